import { userOf, withNamedToken } from '../../../test/limited-callers.js';
import { ConnectionPlaces } from './connection-places.js';
import { UsageBoard } from './usage-board.js';

interface Gateway {
  board: UsageBoard;
  places: ConnectionPlaces;
}

/** Starts gateways. They announce changes immediately or, without `isImmediate`, when `tell` is called. */
function startGateways(count: number, { isImmediate = true, patienceMs = 60_000, perUser = 3 } = {}) {
  const gateways = Array.from({ length: count }, (): Gateway => {
    const board = new UsageBoard();
    return { board, places: new ConnectionPlaces(board, { connections: 100, perUser, patienceMs }) };
  });
  const tell = (): void => {
    for (const { board } of gateways)
      for (const message of board.takeMessages(true))
        for (const other of gateways) other.board.learn(message);
  };
  if (isImmediate)
    for (const { board } of gateways)
      board.onAnnounce(() => {
        for (const message of board.takeMessages(false))
          for (const other of gateways) other.board.learn(message);
      });
  return { gateways: gateways as [Gateway, Gateway], tell };
}

async function take({ places }: Gateway, count: number, userId = 'ada'): Promise<void> {
  for (let place = 0; place < count; place += 1) await places.take(userOf(userId));
}

const tooMany = expect.objectContaining({
  code: 'too_many_requests',
  retryAfterSeconds: 10,
  detail: 'This user has 3 live connections, the maximum for all gateways. Close one, or retry in 10 s.',
}) as Error;

describe(ConnectionPlaces.name, () => {
  it('refuses at once a client that exceeds the limit at one gateway', async () => {
    const { gateways } = startGateways(1);
    await take(gateways[0], 3);

    await expect(gateways[0].places.take(userOf('ada'))).rejects.toThrow(tooMany);
    await take(gateways[0], 3, 'bob');
  });

  it('refuses a client that exceeds the limit at all gateways together, after a wait', async () => {
    const { gateways } = startGateways(2, { patienceMs: 10 });
    await take(gateways[0], 2);
    await take(gateways[1], 1);

    await expect(gateways[1].places.take(userOf('ada'))).rejects.toThrow(tooMany);
    await expect(gateways[0].places.take(userOf('ada'))).rejects.toThrow(tooMany);
    expect(gateways[1].board.ownOf('ada').connections).toBe(1);
  });

  it('leaves half of the places at all gateways to the user of a named token', async () => {
    const { gateways } = startGateways(2, { patienceMs: 10, perUser: 4 });
    const [one, other] = gateways;
    const leaked = withNamedToken('ada');
    await one.places.take(leaked);
    await other.places.take(leaked);
    const refusal = expect.objectContaining({
      detail: 'This token has 2 live connections, the maximum for all gateways. Close one, or retry in 10 s.',
    }) as Error;
    await expect(one.places.take(leaked)).rejects.toThrow(refusal);

    await take(other, 2);
    await expect(other.places.take(userOf('ada'))).rejects.toThrow(
      expect.objectContaining({ code: 'too_many_requests' }) as Error,
    );
    other.places.release(leaked);
    await one.places.take(leaked);
    expect(one.board.ownOf('ada').connections + other.board.ownOf('ada').connections).toBe(4);
  });

  it('gives back the place of a named token when its user has no place', async () => {
    const { gateways } = startGateways(1);
    const [{ places, board }] = gateways;
    await take(gateways[0], 3);
    await expect(places.take(withNamedToken('ada'))).rejects.toThrow(tooMany);

    expect(board.ownOf('leaked').connections).toBe(0);
    places.release(userOf('ada'));
    await places.take(withNamedToken('ada'));
  });

  it('lets clients wait for the end of their connections at a gateway that stops', async () => {
    const { gateways } = startGateways(2);
    const [one, other] = gateways;
    await take(one, 3);
    const reconnecting = take(other, 3);
    for (const message of one.board.farewell()) other.board.learn(message);
    await reconnecting;

    expect(other.board.ownOf('ada').connections).toBe(3);
  });

  it('lets no more clients wait than can get a place', async () => {
    const { gateways } = startGateways(2);
    const [one, other] = gateways;
    await take(one, 3);
    const waiting = [1, 2, 3].map(() => other.places.take(userOf('ada')));
    await expect(other.places.take(userOf('ada'))).rejects.toThrow(tooMany);
    one.places.release(userOf('ada'));
    await waiting[0];
    expect(other.board.ownOf('ada').connections).toBe(1);
    one.places.release(userOf('ada'));
    one.places.release(userOf('ada'));
    await Promise.all(waiting);
  });

  it('refuses everybody when it stops', async () => {
    const { gateways } = startGateways(2);
    await take(gateways[0], 3);
    const waiting = gateways[1].places.take(userOf('ada'));
    gateways[1].places.stop();
    const stopping = expect.objectContaining({ code: 'unavailable' }) as Error;

    await expect(waiting).rejects.toThrow(stopping);
    await expect(gateways[1].places.take(userOf('bob'))).rejects.toThrow(stopping);
  });

  it('counts waiting clients toward the limit of the gateway, until they are refused', async () => {
    const { gateways } = startGateways(2, { patienceMs: 200 });
    const [one, other] = gateways;
    await take(one, 3);
    const waiting = [1, 2, 3].map(() => other.places.take(userOf('ada')));
    await Promise.all(Array.from({ length: 97 }, (_, index) => other.places.take(userOf(`user-${index}`))));
    const full = expect.objectContaining({ code: 'unavailable' }) as Error;

    await expect(other.places.take(userOf('bob'))).rejects.toThrow(full);

    await Promise.all(waiting.map((each) => expect(each).rejects.toThrow(tooMany)));
    await take(other, 3, 'bob');
    await expect(other.places.take(userOf('eve'))).rejects.toThrow(full);
  });

  it('refuses all users when the gateway is full', async () => {
    const { gateways } = startGateways(1);
    for (let user = 0; user < 100; user += 1) await take(gateways[0], 1, `user-${user}`);

    await expect(gateways[0].places.take(userOf('ada'))).rejects.toThrow(
      expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 10 }) as Error,
    );
  });

  describe('findExcess', () => {
    it('reports an excess at one gateway only, at the second check in a row', async () => {
      const { gateways, tell } = startGateways(2, { isImmediate: false });
      await take(gateways[0], 3);
      await take(gateways[1], 3);
      tell();
      expect(gateways.map(({ places }) => places.findExcess().size)).toEqual([0, 0]);
      const excess = gateways.map(({ places }) => places.findExcess().get('ada') ?? 0);

      expect(excess.sort()).toEqual([0, 3]);
    });

    it('closes nothing while the limit is kept', async () => {
      const { gateways } = startGateways(2);
      await take(gateways[0], 2);
      await take(gateways[1], 1);

      for (const { places } of [...gateways, ...gateways]) expect(places.findExcess().size).toBe(0);
    });
  });
});

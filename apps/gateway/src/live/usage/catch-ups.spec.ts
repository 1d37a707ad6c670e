import { Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { userOf, withNamedToken } from '../../../test/limited-callers.js';
import type { CatchUpLimits } from '../live-limits.js';
import { CatchUpHistory } from './catch-up-history.js';
import { CatchUps, type CatchUpTurn } from './catch-ups.js';
import { UsageBoard } from './usage-board.js';

const never = new AbortController().signal;

interface Gateway {
  board: UsageBoard;
  catchUps: CatchUps;
  metrics: Registry;
}

/** Starts gateways that learn of each other's catch-ups immediately. */
function startGateways(count: number, limits: Partial<CatchUpLimits> = {}): [Gateway, Gateway] {
  const gateways = Array.from({ length: count }, () => {
    const [board, metrics] = [new UsageBoard(), new Registry()];
    return {
      board,
      metrics,
      catchUps: new CatchUps(board, metrics, {
        perUser: 2,
        turnMs: 60_000,
        messagesPerSecond: 10_000,
        ...limits,
      }),
    };
  });
  for (const { board } of gateways)
    board.onAnnounce(() => {
      for (const message of board.takeMessages(false))
        for (const other of gateways) other.board.learn(message);
    });
  return gateways as [Gateway, Gateway];
}

/** Begins catch-ups. Returns their turns as they are granted. */
function begin(
  { catchUps }: Gateway,
  count: number,
  caller = userOf('ada'),
  signal?: AbortSignal,
): CatchUpTurn[] {
  const turns: CatchUpTurn[] = [];
  for (let index = 0; index < count; index += 1)
    catchUps.begin(caller, signal ?? new AbortController().signal).then(
      (turn) => turns.push(turn),
      () => undefined,
    );
  return turns;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(CatchUps.name, () => {
  it('runs two catch-ups of a user at a time, and the others in turn', async () => {
    const [gateway] = startGateways(1);
    const turns = begin(gateway, 50);
    await settle();
    expect(turns).toHaveLength(2);
    for (let count = 0; count < 50; count += 1) {
      turns[count]?.end();
      turns[count]?.end();
      await settle();
      expect(turns).toHaveLength(Math.min(50, count + 3));
    }
    expect(gateway.board.ownUsers).toEqual([]);
  });

  it('does not make users wait for each other', async () => {
    const [gateway] = startGateways(1);
    begin(gateway, 50);
    const other = begin(gateway, 1, userOf('bob'));
    await settle();

    expect(other).toHaveLength(1);
  });

  it('leaves a catch-up to the user of a named token, also when many of its catch-ups wait', async () => {
    const [gateway] = startGateways(1, { turnMs: 0 });
    const leaked = begin(gateway, 20, withNamedToken('ada'));
    await settle();
    const own = begin(gateway, 2);
    await settle();
    expect([leaked.length, own.length]).toEqual([1, 1]);
    expect(leaked[0]?.isDue).toBe(true);

    leaked[0]?.end();
    await settle();
    // The user's catch-up has waited longer than the next one of the token.
    expect([leaked.length, own.length]).toEqual([1, 2]);
    own[0]?.end();
    await settle();
    expect(leaked).toHaveLength(2);
  });

  it('counts all gateways together, and gives each its turn', async () => {
    const [one, other] = startGateways(2);
    const turns = begin(one, 3);
    await settle();
    const others = begin(other, 1);
    await settle();
    expect([turns.length, others.length]).toEqual([2, 0]);
    turns[0]?.end();
    await settle();
    // The first gateway lets the other one go first.
    expect([turns.length, others.length]).toEqual([2, 1]);
    others[0]?.end();
    await eventually(() => expect(turns).toHaveLength(3));
  });

  it('marks a turn that has used its time as due only while another catch-up waits', async () => {
    const [gateway] = startGateways(1, { turnMs: 0 });
    const turns = begin(gateway, 2);
    await settle();
    expect(turns.map(({ isDue }) => isDue)).toEqual([false, false]);
    begin(gateway, 1);
    expect(turns.map(({ isDue }) => isDue)).toEqual([true, true]);
  });

  it('forgets a client that leaves while it waits', async () => {
    const [gateway] = startGateways(1);
    const leaving = new AbortController();
    const turns = begin(gateway, 2);
    begin(gateway, 1, userOf('ada'), leaving.signal);
    await settle();
    expect(gateway.board.ownOf('ada')).toEqual({ connections: 0, catchUps: 2, waiting: 1 });
    leaving.abort();
    expect(gateway.board.ownOf('ada')).toEqual({ connections: 0, catchUps: 2, waiting: 0 });
    for (const turn of turns) turn.end();
    expect(gateway.board.ownUsers).toEqual([]);
  });

  it('counts running and waiting catch-ups', async () => {
    const [gateway] = startGateways(1);
    begin(gateway, 5);
    await settle();
    const text = await gateway.metrics.metrics();

    expect(text).toContain('live_catch_ups{state="running"} 2');
    expect(text).toContain('live_catch_ups{state="waiting"} 3');
  });
});

describe(CatchUpHistory.name, () => {
  const page = { kind: 'events' as const, events: [], next: 2 };
  const place = { epoch: '1a2b3c4d', from: 1, until: 1 };
  const read = (): Promise<typeof page> => Promise.resolve(page);
  const create = ({ catchUps }: Gateway): CatchUpHistory =>
    new CatchUpHistory({ read }, catchUps, userOf('ada'));

  it('reads in one turn until it rests', async () => {
    const [gateway] = startGateways(1);
    const history = create(gateway);
    expect(await history.read(place, never)).toBe(page);
    await Promise.all([history.read(place, never), history.read(place, never)]);
    expect(gateway.board.ownOf('ada').catchUps).toBe(1);
    history.rest();
    await settle();
    expect(gateway.board.ownUsers).toEqual([]);
  });

  it('gives its turn to others of the user that wait, and takes another one', async () => {
    const [gateway] = startGateways(1, { perUser: 1, turnMs: 0 });
    const [first, second] = [create(gateway), create(gateway)];
    await first.read(place, never);
    const waiting = second.read(place, never);
    await settle();
    const again = first.read(place, never);
    await waiting;
    second.rest();

    expect(await again).toBe(page);
  });

  it('gives up its turn when its client takes longer than a turn to receive a page', async () => {
    const [gateway] = startGateways(1, { perUser: 1, turnMs: 50 });
    const [slow, other] = [create(gateway), create(gateway)];
    await slow.read(place, never);

    expect(await other.read(place, never)).toBe(page);
    other.rest();
    expect(await slow.read(place, never)).toBe(page);
  });

  it('leaves nothing behind when the client leaves while it waits', async () => {
    const [gateway] = startGateways(1, { perUser: 1 });
    const [turn] = [await gateway.catchUps.begin(userOf('ada'), never)];
    const leaving = new AbortController();
    const history = create(gateway);
    const reading = history.read(place, leaving.signal);
    leaving.abort();
    history.rest();
    await expect(reading).rejects.toThrow();
    turn.end();

    expect(gateway.board.ownUsers).toEqual([]);
  });
});

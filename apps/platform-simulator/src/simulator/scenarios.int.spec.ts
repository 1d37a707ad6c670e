import { eventually } from '@stream-events/testing';
import { SimulatorSetup } from '../../test/simulator-setup.js';
import { isNotification, type Received } from '../../test/webhook-receiver.js';
import { scenarioNames } from '../platform-simulator.config.js';

interface Truth {
  id: string;
  ended_at: string | null;
}

describe('scenarios', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => setup.close());

  const play = (body: object, run = setup) => run.call('POST', '/simulator/scenarios', body);

  const broadcasters = async (run = setup): Promise<{ id: string; is_live: boolean }[]> =>
    (await run.call('GET', '/simulator')).json.broadcasters as { id: string; is_live: boolean }[];

  const usersOf = async (run: SimulatorSetup): Promise<{ id: string; login: string }[]> =>
    (await run.call('GET', '/simulator/users?first=1000')).json.users as { id: string; login: string }[];

  const streamsOf = async (run: SimulatorSetup, id: string): Promise<Truth[]> =>
    (await run.call('GET', `/simulator/streams?user_id=${id}`)).json as unknown as Truth[];

  it.each(scenarioNames.map((name) => [name]))('%s can be started and stopped', async (name) => {
    expect(await play({ name })).toMatchObject({ status: 200, json: { playing: name } });
    expect((await play({ name: 'none' })).json.playing).toBeNull();
  });

  it('can run from the start', async () => {
    const run = await SimulatorSetup.start({ SIMULATOR_SCENARIO: 'busy-evening' });
    expect((await run.call('GET', '/simulator/scenarios')).json.playing).toBe('busy-evening');
    expect((await run.call('GET', '/simulator')).json.rate).toBe(20);
    expect((await broadcasters(run)).filter(({ is_live }) => is_live).length).toBeGreaterThanOrEqual(5);
    await run.close();
  });

  it.each([[{ name: 'opera' }], [{}], [{ name: 'raid', every_ms: 1 }], [{ name: 'raid', users: 0 }]])(
    'responds with 400 to %j',
    async (body) => {
      expect((await play(body)).status).toBe(400);
    },
  );

  it('starts and stops streams of the given number of streamers', async () => {
    const before = (await usersOf(setup)).length;
    await play({ name: 'streamers-on-and-off', users: 3, every_ms: 10 });
    const made = (await usersOf(setup)).slice(before);
    expect(made).toHaveLength(3);
    await eventually(async () => {
      for (const { id } of made) {
        expect(
          (await streamsOf(setup, id)).filter(({ ended_at }) => ended_at !== null).length,
        ).toBeGreaterThan(1);
      }
    });
  });

  it('ends a stream with a raid whose viewers follow and chat', async () => {
    await Promise.all(
      (await broadcasters()).flatMap(({ id }) => [
        setup.subscribe({ type: 'channel.raid', version: '1', condition: { to_broadcaster_user_id: id } }),
        setup.subscribe({ condition: { broadcaster_user_id: id, moderator_user_id: id } }),
        setup.subscribe({ type: 'stream.offline', version: '1', condition: { broadcaster_user_id: id } }),
      ]),
    );
    await play({ name: 'raid', rate: 0, every_ms: 3_600_000 });
    const isOf = (type: string) => (received: Received) =>
      isNotification(received) && received.json.subscription.type === type;
    const [raid] = await setup.receiver.waitFor(1, isOf('channel.raid'));
    const [offline] = await setup.receiver.waitFor(1, isOf('stream.offline'));
    expect(offline?.json.event?.broadcaster_user_id).toBe(raid?.json.event?.from_broadcaster_user_id);
    for (const { json } of await setup.receiver.waitFor(10, isOf('channel.follow'))) {
      expect(json.event?.broadcaster_user_id).toBe(raid?.json.event?.to_broadcaster_user_id);
    }
  });

  it('notifies both sides of a raid, with two messages about the same event', async () => {
    const conditions = (await broadcasters()).flatMap(({ id }) => [
      { from_broadcaster_user_id: id },
      { to_broadcaster_user_id: id },
    ]);
    await Promise.all(
      conditions.map((condition) => setup.subscribe({ type: 'channel.raid', version: '1', condition })),
    );
    await play({ name: 'raid', rate: 0, every_ms: 3_600_000 });

    const [one, other] = await setup.receiver.waitFor(2, isNotification);

    expect(one?.json.event).toEqual(other?.json.event);
    const { from_broadcaster_user_id, to_broadcaster_user_id } = one?.json.event ?? {};
    expect([one, other].map((received) => received?.json.subscription.condition)).toEqual(
      expect.arrayContaining([{ from_broadcaster_user_id }, { to_broadcaster_user_id }]),
    );
    const ids = [one, other].map((received) => received?.headers['twitch-eventsub-message-id']);
    expect(new Set(ids).size).toBe(2);
  });

  it('gives the same people, ids, streams, and events for the same seed and calls', async () => {
    const run = async (seed: string): Promise<unknown> => {
      const other = await SimulatorSetup.start({ SIMULATOR_SEED: seed });
      await other.call('POST', '/simulator/users', { count: 50 });
      await other.call('POST', '/simulator/users', { login: 'mira' });
      const users = await usersOf(other);
      const streams: unknown[] = [];
      for (const { id } of users.slice(-5)) {
        const { json } = await other.call('POST', '/simulator/streams', { user_id: id });
        streams.push({ ...json, started_at: null });
      }
      const bodies: unknown[] = [];
      for (const type of [
        'channel.raid',
        'channel.chat.notification',
        'channel.prediction.end',
        'user.update',
      ]) {
        const { json } = await other.send({
          type,
          callback: other.receiver.url,
          secret: 'a secret of the tests',
        });
        const { event } = JSON.parse(String(json.body)) as { event: Record<string, unknown> };
        bodies.push(JSON.parse(JSON.stringify(event).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')));
      }
      await other.close();
      return { users, streams, bodies };
    };
    const [first, again, other] = await Promise.all(['once', 'once', 'twice'].map(run));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });
});

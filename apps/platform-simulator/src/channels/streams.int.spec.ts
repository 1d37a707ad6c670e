import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { stopClock } from '../../test/clock.js';
import { SimulatorSetup } from '../../test/simulator-setup.js';
import { isNotification, type Received } from '../../test/webhook-receiver.js';
import type { StreamTruth, StreamView } from './streams.service.js';

describe('streams of the simulated platform', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
  });

  afterEach(() => {
    jest.restoreAllMocks();
    return setup.close();
  });

  const goLive = async (
    body: Record<string, unknown> = { user_id: '77' },
  ): Promise<StreamView & StreamTruth> => {
    const { status, json } = await setup.call('POST', '/simulator/streams', body);
    expect(status).toBe(201);
    return json as unknown as StreamView & StreamTruth;
  };

  const goOffline = (body?: object) => setup.call('DELETE', '/simulator/streams/77', body);

  const listed = async (query = 'user_id=77'): Promise<StreamView[]> =>
    (await setup.call('GET', `/helix/streams?${query}`)).json.data as unknown as StreamView[];

  const truth = async (userId = '77'): Promise<StreamTruth[]> =>
    (await setup.call('GET', `/simulator/streams?user_id=${userId}`)).json as unknown as StreamTruth[];

  const subscribeTo = (type: string) =>
    setup.subscribe({ type, version: '1', condition: { broadcaster_user_id: '77' } });

  const isOf =
    (type: string) =>
    (received: Received): boolean =>
      isNotification(received) && received.json.subscription.type === type;

  describe('a user who goes live and offline', () => {
    it('is listed while live, and its past streams stay available', async () => {
      expect(await listed()).toEqual([]);
      const stream = await goLive({ login: 'MIRA', title: 'Hi', game_name: 'Chess', viewer_count: 5 });
      expect(await listed()).toEqual([
        {
          ...{ id: stream.id, user_id: '77', user_login: 'mira', user_name: 'mira', type: 'live' },
          ...{
            game_id: '743',
            game_name: 'Chess',
            title: 'Hi',
            viewer_count: 5,
            language: expect.any(String),
          },
          ...{ started_at: stream.started_at, tags: ['simulation'], tag_ids: [], is_mature: false },
          thumbnail_url: expect.stringContaining('{width}x{height}'),
        },
      ]);
      expect(await listed('user_login=Mira')).toHaveLength(1);
      expect((await goOffline()).status).toBe(200);
      expect(await listed()).toEqual([]);
      const next = await goLive();
      const [first, second] = await truth();
      expect(first).toEqual({
        ...{ id: stream.id, user_id: '77', started_at: stream.started_at },
        ended_at: expect.any(String),
      });
      expect(second).toMatchObject({ id: next.id, ended_at: null });
      expect(next.id).not.toBe(stream.id);
    });

    it('sends notifications unless notify is false', async () => {
      await subscribeTo('stream.online');
      await subscribeTo('stream.offline');
      await goLive({ user_id: '77', notify: false });
      await goOffline({ notify: false });
      const { id, started_at } = await goLive();
      const [online] = await setup.receiver.waitFor(1, isOf('stream.online'));
      expect(online?.json.event).toMatchObject({ id, started_at, type: 'live', broadcaster_user_id: '77' });
      await goOffline();
      const [offline] = await setup.receiver.waitFor(1, isOf('stream.offline'));
      expect(offline?.json.event).toMatchObject({ id, broadcaster_user_id: '77' });
      expect(setup.receiver.received.filter(isNotification)).toHaveLength(2);
    });

    it('sends channel.update for a new title and category', async () => {
      await setup.subscribe({
        type: 'channel.update',
        version: '2',
        condition: { broadcaster_user_id: '77' },
      });
      await goLive();
      const change = { title: 'New', game_name: 'A game of our own', viewer_count: 9 };
      expect((await setup.call('PATCH', '/simulator/streams/77', change)).status).toBe(200);
      expect(await listed()).toMatchObject([
        { title: 'New', game_name: 'A game of our own', viewer_count: 9 },
      ]);
      const [update] = await setup.receiver.waitFor(1, isOf('channel.update'));
      expect(update?.json.event).toMatchObject({ title: 'New', category_name: 'A game of our own' });
    });

    it('changes the stream of a user who is already live', async () => {
      const stream = await goLive();
      const again = await setup.call('POST', '/simulator/streams', { user_id: '77', title: 'New' });
      expect(again).toMatchObject({ status: 201, json: { id: stream.id, title: 'New' } });
    });

    it('responds with 404 for a user who is offline or unknown', async () => {
      expect((await goOffline()).status).toBe(404);
      expect((await setup.call('PATCH', '/simulator/streams/77', {})).status).toBe(404);
      expect((await setup.call('POST', '/simulator/streams', { login: 'nobody' })).status).toBe(404);
      expect((await setup.call('POST', '/simulator/streams', {})).status).toBe(400);
    });
  });

  describe('the lag of the list', () => {
    it('lists a stream late and an ended stream longer, for the given times', async () => {
      const pass = stopClock();
      const stream = await goLive({ user_id: '77', listed_after_ms: 300 });
      pass(299);
      expect(await listed()).toEqual([]);
      pass(1);
      expect(await listed()).toMatchObject([{ id: stream.id }]);
      await goOffline({ listed_for_ms: 300 });
      pass(299);
      expect(await listed()).toMatchObject([{ id: stream.id }]);
      expect((await truth())[0]!.ended_at).not.toBeNull();
      pass(1);
      expect(await listed()).toEqual([]);
    });

    it('shows the ended stream until the next one is listed', async () => {
      const pass = stopClock();
      const first = await goLive();
      await goOffline({ listed_for_ms: 60_000 });
      const second = await goLive({ user_id: '77', listed_after_ms: 300 });
      expect(await listed()).toMatchObject([{ id: first.id }]);
      pass(300);
      expect(await listed()).toMatchObject([{ id: second.id }]);
    });
  });

  describe('GET /helix/streams', () => {
    const addUsers = async (count: number): Promise<string[]> => {
      const { json } = await setup.call('POST', '/simulator/users', { count });
      return (json.users as { id: string }[]).map(({ id }) => id);
    };

    it('lists all live streams in pages', async () => {
      const ids = await addUsers(25);
      for (const user_id of ids) await goLive({ user_id, notify: false });
      const seen: string[] = [];
      let query = 'first=10';
      for (let page = 0; page < 3; page += 1) {
        const { json } = await setup.call('GET', `/helix/streams?${query}`);
        seen.push(...(json.data as unknown as StreamView[]).map((stream) => stream.user_id));
        const { cursor } = json.pagination as { cursor?: string };
        expect(cursor === undefined).toBe(page === 2);
        query = `first=10&after=${cursor}`;
      }
      expect(seen).toEqual(ids);
      expect(await listed('')).toHaveLength(20);
    });

    it('returns the requested users, up to 100', async () => {
      const ids = await addUsers(100);
      await Promise.all(ids.map((user_id) => goLive({ user_id, notify: false })));
      const query = ids.map((id) => `user_id=${id}`).join('&');
      expect(await listed(`first=100&${query}`)).toHaveLength(100);
      expect((await setup.call('GET', `/helix/streams?${query}&user_id=77`)).status).toBe(400);
      expect((await setup.call('GET', '/helix/streams?first=101')).status).toBe(400);
      expect((await setup.call('GET', '/helix/streams?after=nonsense')).status).toBe(400);
    });
  });

  it('match the events of the world', async () => {
    await subscribeTo('stream.online');
    await subscribeTo('stream.offline');
    // A slow machine must keep up with this rate: a message that takes longer than 10 s is sent again.
    await setup.call('PATCH', '/simulator', { rate: 20 });
    await setup.receiver.waitFor(20, isOf('stream.offline'));
    await setup.call('PATCH', '/simulator', { rate: 0 });
    const streams = await truth();
    await eventually(() => {
      const idsOf = (type: string): unknown[] =>
        setup.receiver.received
          .filter(isOf(type))
          .map(({ json }) => json.event?.id)
          .sort();
      expect(idsOf('stream.online')).toEqual(streams.map(({ id }) => id).sort());
      const ended = streams.filter(({ ended_at }) => ended_at !== null);
      expect(idsOf('stream.offline')).toEqual(ended.map(({ id }) => id).sort());
    });
  });
});

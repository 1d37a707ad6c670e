import { createClient, type Client, type Gap, type LiveEvent, type LiveOptions } from '@stream-events/client';
import { eventually } from '@stream-events/testing';
import { uniqueType } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Test limit. Restarting a gateway takes up to 30 s on two busy cores, and the client then waits up to 10 s before it reconnects.
const limitMs = 240_000;
const settled = { timeoutMs: 60_000 };

describe('the TypeScript client', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ killable: ['gateway'] });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const clientOf = (token = stack.ownerToken): Client => createClient({ url: stack.url, token });

  /** Sends test events one by one to the second gateway, which keeps running. */
  const makeEvents = async (event_type: string, count: number): Promise<void> => {
    const { api } = createClient({ url: stack.urls[1]!, token: stack.ownerToken });
    for (let index = 0; index < count; index += 1) {
      const path = '/api/v1/platform-events/{event_type}/test';
      const { error } = await api.POST(path, { params: { path: { event_type } }, body: { index } });
      if (error) throw new Error(error.detail);
    }
  };

  describe('REST', () => {
    it('returns typed responses', async () => {
      const { api } = clientOf();
      const event_type = uniqueType();
      const body = { event_type, event_source: 'client', event_data: { viewers: 12 } };
      const { data: created } = await api.POST('/api/v1/platform-events', { body });
      expect(created?.event_data.viewers).toBe(12);
      const { data: shown } = await api.GET('/api/v1/platform-events/{id}', {
        params: { path: { id: created!.id! } },
      });
      expect(shown).toEqual(created);
    });

    it('pages through a list with its cursors', async () => {
      const { api } = clientOf();
      const event_type = uniqueType();
      await makeEvents(event_type, 5);
      const found: unknown[] = [];
      for (let cursor: string | undefined; ;) {
        const { data, error } = await api.GET('/api/v1/platform-events', {
          params: { query: { event_type, page_size: 2, ...(cursor && { cursor }) } },
        });
        if (error) throw new Error(error.detail);
        found.push(...data.results.map(({ event_data }) => event_data.index));
        if (!data.next) break;
        cursor = new URL(data.next).searchParams.get('cursor') ?? undefined;
      }
      expect(found).toEqual([4, 3, 2, 1, 0]);
    });

    it('returns problem documents as errors', async () => {
      const { error, response } = await clientOf('wrong').api.GET('/api/v1/streamers');
      expect(response.status).toBe(401);
      expect(error).toMatchObject({ title: 'Unauthorized', status: 401 });
    });
  });

  describe('live events', () => {
    /** Reads live events in the background. Resolves when the connection is open. */
    const listen = async (options: LiveOptions = {}, client = clientOf()) => {
      const events = client.live(options);
      const received: LiveEvent[] = [];
      const read = async (): Promise<void> => {
        for await (const event of events) received.push(event);
      };
      const ended = read();
      let isOver = false;
      ended.catch(() => (isOver = true)); // tests await `ended` to check its error
      await eventually(() => expect(isOver || events.position !== undefined).toBe(true), settled);
      if (isOver) await ended;
      const stop = () => events.return();
      return { received, ended, stop };
    };

    it.each(['SIGTERM', 'SIGKILL'] as const)(
      'arrive once and in order across a gateway restart by %s',
      async (signal) => {
        const type = uniqueType('live');
        const gaps: Gap[] = [];
        const live = await listen({
          filters: { event_type: [type, 'other'] },
          onGap: (gap) => void gaps.push(gap),
        });
        await makeEvents(type, 5);
        await eventually(() => expect(live.received).toHaveLength(5));
        await stack.gateway.kill(signal);
        await makeEvents(type, 5);
        await stack.gateway.start();
        await makeEvents(type, 5);
        await eventually(() => expect(live.received).toHaveLength(15), settled);
        await live.stop();
        await stack.waitUntilPublished();
        const published = (await stack.readStream()).filter(({ record }) => record.event_type === type);
        expect(live.received.map(({ position: _, ...record }) => record)).toEqual(
          published.map(({ record }) => record),
        );
        expect(gaps).toEqual([]);
      },
      limitMs,
    );

    it('start with a gap after an invalid position', async () => {
      const type = uniqueType('gap');
      const gaps: Gap[] = [];
      const live = await listen({
        filters: { event_type: type },
        after: 'nowhere',
        onGap: (gap) => void gaps.push(gap),
      });
      await eventually(() => expect(gaps).toEqual([{ reason: 'unknown_position' }]));
      await makeEvents(type, 1);
      await eventually(() => expect(live.received).toHaveLength(1));
      await live.stop();
    });

    it('end with an error when the token is replaced', async () => {
      const { api } = clientOf();
      const body = { username: uniqueType('user'), password: 'the password of a bot' };
      const { data: user } = await api.POST('/api/v1/users', { body });
      const client = clientOf(user!.auth_token);
      const live = await listen({}, client);
      await client.api.POST('/api/v1/users/me/token', { body: { current_password: body.password } });
      await expect(live.ended).rejects.toMatchObject({ name: 'LiveError', closeCode: 4401 });
    });
  });
});

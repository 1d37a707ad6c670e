import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type EventPage, type EventRecord } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Test limit. Other instances take over a batch 10 s after a crash, and NATS and a service restart during this time.
const recoveryLimitMs = 400_000;
const settled = { timeoutMs: 60_000 };

describe('a crash', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ killable: ['events'] });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const create = (event_type: string) =>
    stack.request<EventRecord>('POST', eventsPath, { body: eventBody({ event_type }) });

  /** Retries the request, because each gateway detects on its own that NATS is back. */
  const listed = (type: string): Promise<EventRecord[]> =>
    eventually(async () => {
      const answer = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${type}`);
      expect(answer.status).toBe(200);
      return answer.json.results;
    }, settled);

  const published = async (type: string): Promise<(string | null)[]> =>
    (await stack.readStream())
      .filter(({ record }) => record.event_type === type)
      .map(({ record }) => record.id);

  it(
    'of NATS and every events service between commit and publish neither loses nor duplicates events',
    async () => {
      const type = uniqueType('crash');
      const held = await stack.holdWrites();
      const answer = create(type);
      await held.untilWaiting(1);
      await stack.nats.kill();
      await held.release();
      const committed = await eventually(async () => {
        const rows = await stack.query<{ id: string }>('SELECT unnest(event_ids) AS id FROM events.outbox');
        expect(rows).toHaveLength(1);
        return rows[0]?.id;
      }, settled);
      await Promise.all(stack.events.map((events) => events.kill('SIGKILL')));
      await stack.nats.restart();
      await eventually(async () => expect(await published(type)).toEqual([]), settled);
      await Promise.all(stack.events.map((events) => events.start()));

      await eventually(
        async () => expect((await stack.request('GET', eventsPath)).status).toBe(200),
        settled,
      );
      await stack.waitUntilPublished();
      expect(await published(type)).toEqual([committed]);
      expect((await listed(type)).map(({ id }) => id)).toEqual([committed]);
      expect(await stack.count('events.outbox')).toBe(0);
      // 201: the event is stored. 503: the client knows that the outcome is unknown.
      expect([201, 503]).toContain((await answer).status);
    },
    recoveryLimitMs,
  );

  it(
    'between publishing a batch and deleting its outbox row publishes nothing twice',
    async () => {
      const type = uniqueType('twice');
      const { json } = await create(type);
      await stack.waitUntilPublished();
      // Simulate a crash that left an outbox row behind.
      await stack.query(
        'INSERT INTO events.outbox (event_ids, claimed_until) VALUES (ARRAY[$1::uuid], now())',
        [json.id],
      );
      await stack.waitUntilPublished();
      expect(await published(type)).toEqual([json.id]);
    },
    recoveryLimitMs,
  );

  it(
    'of NATS while no events arrive ends as soon as NATS is back',
    async () => {
      await stack.nats.kill();
      const refused = await eventually(async () => {
        const answer = await create(uniqueType());
        expect(answer.status).toBe(503);
        return answer;
      }, settled);
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      await stack.nats.restart();
      const type = uniqueType('after');
      const { json } = await eventually(async () => {
        const answer = await create(type);
        expect(answer.status).toBe(201);
        return answer;
      }, settled);
      await stack.waitUntilPublished();
      expect(await published(type)).toContain(json.id);
      expect((await published(type)).sort()).toEqual((await listed(type)).map(({ id }) => id).sort());
    },
    recoveryLimitMs,
  );
});

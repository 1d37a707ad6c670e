import { createHmac, randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { ingestStreamName } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { CuttableProxy, eventually, type TestService } from '@stream-events/testing';
import { eventBody, eventsPath, send, type Answer, type EventRecord } from './api.js';
import { webhookSecrets } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Test limit. It covers an outage, the drain's next attempt, and the takeover of unpublished batches (10 s). The drain retries after 5 s,
// or after 30 s for messages that a dead instance had claimed.
const limitMs = 500_000;
const settled = { timeoutMs: 90_000 };
// A response within this time shows that the gateway did not wait for the store: a batch times out only after 2 s. On an idle machine, a
// response takes a few milliseconds.
const atOnceMs = 1_500;
// Time between two probes while the store does not respond: a probe takes 2 s, and the next one starts 1 s later.
const probeCycleMs = 3_000;

describe('platform messages while they cannot be stored', () => {
  let stack: Stack;
  let postgres: CuttableProxy;

  beforeAll(async () => {
    // The tests count a gateway's warnings, so each gateway runs in its own process.
    stack = await startStack({ killable: ['gateway', 'events'], gateways: 2, events: 0 });
    postgres = await CuttableProxy.start(stack.databaseUrl);
    const environment = { DATABASE_URL: postgres.urlOf(stack.databaseUrlFor('events')) };
    await Promise.all([stack.startEvents(environment), stack.startEvents(environment)]);
  }, startLimitMs);

  afterAll(async () => {
    await stack.stop();
    await postgres.stop();
  });

  beforeEach(async () => {
    await postgres.heal();
    await untilStoring();
  }, limitMs);

  /** Sends a signed webhook notification. */
  const notify = (messageId: string, gateway = stack.url): Promise<Answer<unknown>> => {
    const body = '{"subscription":{"type":"channel.follow"},"event":{"user_id":"1"}}';
    const timestamp = new Date().toISOString();
    const hmac = createHmac('sha256', webhookSecrets[0]).update(messageId + timestamp + body);
    return send('POST', `${gateway}${eventsPath}/webhook`, {
      token: null,
      body,
      headers: {
        'twitch-eventsub-message-id': messageId,
        'twitch-eventsub-message-timestamp': timestamp,
        'twitch-eventsub-message-signature': `sha256=${hmac.digest('hex')}`,
        'twitch-eventsub-message-type': 'notification',
      },
    });
  };

  const notifyStatus = async (messageId: string, gateway?: string): Promise<number> =>
    (await notify(messageId, gateway)).status;

  const measure = async <T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> => {
    const startedAt = performance.now();
    const result = await work();
    return { result, ms: performance.now() - startedAt };
  };

  /**
   * Sends messages in parallel, half of them to each gateway. Each gateway can use one message as a probe; the other messages must not
   * wait for the probe.
   */
  const notifyMany = (count: number): Promise<{ messageId: string; status: number; ms: number }[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const messageId = randomUUID();
        const { result, ms } = await measure(() => notifyStatus(messageId, stack.urls[index % 2] ?? ''));
        return { messageId, status: result, ms };
      }),
    );

  /** Sends requests that need no store, all at once. The duration of the slowest shows how busy the machine is. */
  const measureHeartbeats = async (count: number): Promise<number> => {
    const beats = Array.from({ length: count }, () =>
      measure(() => stack.request('GET', '/api/v1/heartbeat', { token: null })),
    );
    return Math.max(...(await Promise.all(beats)).map(({ ms }) => ms));
  };

  const create = (gateway = stack.url): Promise<Answer<EventRecord>> =>
    stack.request<EventRecord>('POST', eventsPath, { body: eventBody({ event_type: 'by-hand' }), gateway });

  const manageStreams = async <T>(
    work: (streams: Awaited<ReturnType<typeof jetstreamManager>>['streams']) => Promise<T>,
  ): Promise<T> => {
    const connection = await connectNats({ urls: [stack.nats.urlFor('events')], name: 'test' });
    try {
      return await work((await jetstreamManager(connection)).streams);
    } finally {
      await connection.close();
    }
  };

  const countWaiting = (): Promise<number> =>
    manageStreams(async (streams) => (await streams.info(ingestStreamName)).state.messages);

  /** Waits until each gateway stores messages again and no message is waiting. */
  const untilStoring = (): Promise<void> =>
    eventually(
      async () => {
        for (const gateway of stack.gateways) {
          expect((await create(gateway.url)).status).toBe(201);
          await notify(randomUUID(), gateway.url);
          expect(await gateway.metric('ingest_fallback_in_use')).toBe(0);
        }
        expect(await countWaiting()).toBe(0);
      },
      { timeoutMs: 120_000, intervalMs: 200 },
    );

  const untilDegraded = (): Promise<void> =>
    eventually(async () => {
      for (const gateway of stack.gateways) {
        expect((await create(gateway.url)).status).toBe(503);
        expect(await gateway.metric('ingest_degraded')).toBe(1);
      }
    }, settled);

  const expectStoredAndPublishedOnce = async (messageIds: readonly string[]): Promise<void> => {
    await untilStoring();
    await stack.waitUntilPublished();
    const messages = await stack.readStream();
    for (const messageId of messageIds) {
      const rows = await stack.query<{ id: string }>('SELECT id FROM events.events WHERE event_id = $1', [
        messageId,
      ]);
      expect(rows).toHaveLength(1);
      const published = messages.filter(({ record }) => record.event_id === messageId);
      expect(published.map(({ id }) => id)).toEqual([rows[0]?.id]);
    }
  };

  const warningsOf = (gateway: TestService, text: string): number =>
    gateway.output.split('\n').filter((line) => line.includes(text)).length;

  /**
   * Expects that ten sequential requests are rejected immediately, except for probes. Usually one request is a probe; there are more when
   * the ten requests take seconds. If the machine stalls, tries another ten.
   */
  const expectRefusedAtOnce = async (): Promise<void> => {
    const answers: Answer<unknown>[] = [];
    await eventually(async () => {
      const times: number[] = [];
      for (let count = 0; count < 10; count += 1) {
        const { result, ms } = await measure(() => create());
        answers.push(result);
        times.push(ms);
      }
      const totalMs = times.reduce((sum, time) => sum + time, 0);
      const probes = Math.min(1 + Math.floor(totalMs / probeCycleMs), 5);
      expect(times.filter((time) => time > atOnceMs).length).toBeLessThanOrEqual(probes);
    }, settled);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
    expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(answers.map(() => '1'));
  };

  it(
    'are accepted while PostgreSQL refuses connections, and stored and published once each when it is back',
    async () => {
      const [first] = stack.gateways;
      const began = warningsOf(stack.gateway, 'diverting platform messages');
      const deferred = await first?.metric('gateway_webhook_messages_total', { result: 'deferred' });
      await postgres.cut();
      await untilDegraded();
      const messages = await notifyMany(60);
      await expectRefusedAtOnce();
      expect(messages.map(({ status }) => status)).toEqual(Array<number>(60).fill(204));
      expect(await countWaiting()).toBe(60);
      expect(await first?.metric('ingest_fallback_in_use')).toBe(1);
      expect(await first?.metric('gateway_webhook_messages_total', { result: 'deferred' })).toBe(
        (deferred ?? 0) + 30,
      );
      const health = await stack.request('GET', '/health/ready', { token: null });
      expect(health.status).toBe(200);

      await postgres.heal();
      await expectStoredAndPublishedOnce(messages.map(({ messageId }) => messageId));
      expect(warningsOf(stack.gateway, 'diverting platform messages')).toBe(began + 1);
      expect(warningsOf(stack.gateway, 'event store available again')).toBe(began + 1);
      expect(stack.gateway.output).toContain('"deferred":30');
    },
    limitMs,
  );

  it(
    'are accepted within seconds while PostgreSQL does not respond, immediately from then on, and stored once each',
    async () => {
      postgres.hang();
      const { result: messages, ms } = await measure(() => notifyMany(2));
      // The gateway tries to store twice (2 s each), then uses the INGEST stream. Waiting for the failed query would take 12 s, and the
      // platform waits only a few seconds.
      expect(ms).toBeLessThan(12_000);
      // At each gateway, only the probe waits 2 s. If the machine stalls, every message waits, so try another ten.
      await eventually(async () => {
        const busyMs = await measureHeartbeats(10);
        const sent = await notifyMany(10);
        messages.push(...sent);
        const late = sent.filter((message) => message.ms > atOnceMs + busyMs);
        expect(late.length).toBeLessThanOrEqual(stack.urls.length);
      }, settled);
      messages.push(...(await notifyMany(40)));
      await expectRefusedAtOnce();
      expect(messages.map(({ status }) => status)).toEqual(messages.map(() => 204));

      await postgres.heal();
      await expectStoredAndPublishedOnce(messages.map(({ messageId }) => messageId));
    },
    limitMs,
  );

  it(
    'become one event and one message on EVENTS when they are stored late and are also on INGEST',
    async () => {
      const messageIds = Array.from({ length: 6 }, () => randomUUID());
      const held = await stack.holdWrites();
      const statuses = await Promise.all(messageIds.map((id) => notifyStatus(id)));
      expect(statuses).toEqual(messageIds.map(() => 204));
      expect(await countWaiting()).toBe(6);

      await held.release();
      await expectStoredAndPublishedOnce(messageIds);
    },
    limitMs,
  );

  it(
    'are accepted after every events service was killed, and stored by the next one',
    async () => {
      await Promise.all(stack.events.map((events) => events.kill('SIGKILL')));
      const messages = await notifyMany(40);
      await expectRefusedAtOnce();
      expect(messages.map(({ status }) => status)).toEqual(Array<number>(40).fill(204));

      await Promise.all(stack.events.map((events) => events.start()));
      await expectStoredAndPublishedOnce(messages.map(({ messageId }) => messageId));
    },
    limitMs,
  );

  it(
    'become one message on INGEST, one event, and one message on EVENTS when they are redelivered during and after the outage',
    async () => {
      const messageIds = Array.from({ length: 10 }, () => randomUUID());
      const deliver = (): Promise<number[]> =>
        Promise.all(messageIds.flatMap((id) => stack.urls.map((url) => notifyStatus(id, url))));
      await postgres.cut();
      await untilDegraded();
      expect([...(await deliver()), ...(await deliver())]).toEqual(Array<number>(40).fill(204));
      expect(await countWaiting()).toBe(10);

      await postgres.heal();
      await untilStoring();
      expect(await deliver()).toEqual(Array<number>(20).fill(204));
      await expectStoredAndPublishedOnce(messageIds);
    },
    limitMs,
  );

  it(
    'are rejected with one warning when INGEST is full, and accepted when there is room again',
    async () => {
      const limit = (max_msgs: number): Promise<unknown> =>
        manageStreams(async (streams) =>
          streams.update(ingestStreamName, { ...(await streams.info(ingestStreamName)).config, max_msgs }),
        );
      const refusals = warningsOf(stack.gateway, 'cannot publish to the INGEST stream');
      await postgres.cut();
      await untilDegraded();
      await limit(3);
      const ids = Array.from({ length: 8 }, () => randomUUID());
      const answers: Answer<unknown>[] = [];
      for (const id of ids) answers.push(await notify(id));
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 503, 503, 503, 503, 503]);
      expect(answers[3]?.headers.get('retry-after')).toBe('1');

      await limit(-1);
      expect(await Promise.all(ids.map((id) => notifyStatus(id)))).toEqual(Array<number>(8).fill(204));
      await postgres.heal();
      await expectStoredAndPublishedOnce(ids);
      // The log lines of the rejections have arrived by now.
      expect(warningsOf(stack.gateway, 'cannot publish to the INGEST stream')).toBe(refusals + 1);
    },
    limitMs,
  );

  it(
    'are rejected and not kept with INGEST_FALLBACK=off',
    async () => {
      const gateway = await stack.startGateway({ INGEST_FALLBACK: 'off' });
      stack.gateways.pop(); // later tests use the gateways with the fallback
      try {
        await postgres.cut();
        const ids = [randomUUID(), randomUUID()];
        for (const id of ids) {
          const answer = await notify(id, gateway.url);
          expect(answer).toMatchObject({ status: 503 });
          expect(answer.headers.get('retry-after')).toBe('1');
        }
        expect(await countWaiting()).toBe(0);
        await postgres.heal();
        await eventually(
          async () => expect(await notifyStatus(ids[0] ?? '', gateway.url)).toBe(204),
          settled,
        );
        await expectStoredAndPublishedOnce(ids.slice(0, 1));
      } finally {
        await gateway.stop();
      }
    },
    limitMs,
  );

  // Keep this test last: it kills NATS.
  it(
    'are rejected immediately while NATS is unavailable, and accepted again when it is back',
    async () => {
      await stack.nats.kill();
      await eventually(async () => {
        const { result, ms } = await measure(() => notify(randomUUID()));
        expect(ms).toBeLessThan(atOnceMs);
        expect(result.status).toBe(503);
      }, settled);
      await stack.nats.restart();
      const messageId = randomUUID();
      await eventually(async () => expect(await notifyStatus(messageId)).toBe(204), settled);
      await expectStoredAndPublishedOnce([messageId]);
    },
    limitMs,
  );
});

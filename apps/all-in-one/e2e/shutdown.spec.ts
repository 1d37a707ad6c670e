import { eventually, type TestService } from '@stream-events/testing';
import type { HeldWrites } from './held-writes.js';
import { eventBody, eventsPath, uniqueType, type Answer, type EventRecord } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Test limit. A process that cannot stop exits with an error after 25 s, and the test must run long enough to see that error.
const limitMs = 240_000;
const requestsAtOnce = 5;
// Of five requests that arrive in sequence, the first three form batches of one event. The other two wait for the next batch.
const batchesInFlight = 3;
// All requests must be in flight within this time. A gateway gives up on a batch after 4 s, and the shutdown must begin before that.
const maxPreparationMs = 2_000;

/** Requests that wait at the first gateway. The database stores their events only after `held.release()`. */
interface InFlight {
  type: string;
  held: HeldWrites;
  answers: Promise<Answer<EventRecord>>[];
  /** Time from the first request until all requests were in flight. */
  preparationMs: number;
}

describe('shutdown of a process', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ killable: ['gateway', 'events'] });
  }, startLimitMs);

  afterEach(async () => {
    const ended = [...stack.gateways, ...stack.events].filter((service) => !service.isRunning);
    await Promise.all(ended.map((service) => service.start()));
    stack.balanceRequests();
  }, startLimitMs);

  afterAll(() => stack.stop());

  const create = (event_type: string, gateway = stack.url) =>
    stack.request<EventRecord>('POST', eventsPath, { body: eventBody({ event_type }), gateway });

  const untilShuttingDown = (process: TestService): Promise<void> =>
    eventually(
      async () => {
        const answer = await stack.request('GET', `${process.adminUrl}/health/ready`, { token: null });
        expect(answer.status).toBe(503);
        expect(answer.text).toContain('is shutting down');
      },
      { intervalMs: 10 },
    );

  const expectStoredAndPublishedOnce = async (
    type: string,
    answers: Answer<EventRecord>[],
  ): Promise<void> => {
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const ids = answers.map(({ json }) => json.id).sort();
    const rows = await stack.query<{ id: string }>(
      'SELECT id FROM events.events WHERE event_type = $1 ORDER BY id',
      [type],
    );
    expect(rows.map(({ id }) => id)).toEqual(ids);
    await stack.waitUntilPublished();
    const published = (await stack.readStream()).filter(({ record }) => record.event_type === type);
    expect(published.map(({ id }) => id).sort()).toEqual(ids);
  };

  const sendIntoFlight = async (type: string): Promise<InFlight> => {
    const held = await stack.holdWrites();
    const startedAt = performance.now();
    const answers: Promise<Answer<EventRecord>>[] = [];
    try {
      for (let index = 0; index < batchesInFlight; index += 1) {
        answers.push(create(type));
        await held.untilWaiting(index + 1);
      }
      while (answers.length < requestsAtOnce) answers.push(create(type));
      await eventually(
        async () =>
          expect(await stack.gateway.metric('ingest_waiting_events')).toBe(requestsAtOnce - batchesInFlight),
        { intervalMs: 10 },
      );
    } catch (error) {
      await held.release();
      await Promise.allSettled(answers);
      throw error;
    }
    return { type, held, answers, preparationMs: performance.now() - startedAt };
  };

  /** Retries with a new type when a busy machine is so slow that the gateway would give up on the first requests. */
  const prepareInTime = (name: string): Promise<InFlight> =>
    eventually(
      async () => {
        // After giving up on a request, the gateway rejects requests for one second. Wait until it accepts them again.
        await eventually(async () => expect((await create(uniqueType('ready'))).status).toBe(201));
        const inFlight = await sendIntoFlight(uniqueType(name));
        if (inFlight.preparationMs < maxPreparationMs) return inFlight;
        await inFlight.held.release();
        await Promise.allSettled(inFlight.answers);
        throw new Error(`the requests took ${inFlight.preparationMs} ms`);
      },
      { timeoutMs: 120_000 },
    );

  /** Sends SIGTERM to the process while requests are in flight. Then the database stores their events. */
  const terminateInMidFlight = async (
    process: TestService,
    name: string,
  ): Promise<{ type: string; answers: Answer<EventRecord>[] }> => {
    const { type, held, answers } = await prepareInTime(name);
    const ended = process.kill('SIGTERM');
    await untilShuttingDown(process).finally(() => held.release());
    const settled = await Promise.all(answers);
    expect(await ended).toEqual({ code: 0, signal: null });
    return { type, answers: settled };
  };

  it(
    'of a gateway by SIGTERM completes every request in flight',
    async () => {
      const gateway = stack.gateway;
      const { type, answers } = await terminateInMidFlight(gateway, 'gateway');
      await expect(create(type, gateway.url)).rejects.toThrow(); // the gateway no longer listens
      stack.balanceRequests();
      await expectStoredAndPublishedOnce(type, answers);
    },
    limitMs,
  );

  it(
    'of an events service by SIGTERM completes every request in flight',
    async () => {
      const { type, answers } = await terminateInMidFlight(stack.eventsService, 'events'); // the stack has a second events service
      await expectStoredAndPublishedOnce(type, answers);
    },
    limitMs,
  );

  it.each([
    ['SIGTERM', { code: 0, signal: null }],
    ['SIGKILL', { code: null, signal: 'SIGKILL' }],
  ] as const)(
    'of one of two events services by %s under load fails no request',
    async (signal, end) => {
      const type = uniqueType('load');
      const answers: Answer<EventRecord>[] = [];
      const total = 400;
      let sent = 0;
      const client = async (gateway: string): Promise<void> => {
        for (; sent < total; answers.push(await create(type, gateway))) sent += 1;
      };
      const clients = Array.from({ length: 16 }, (_, index) => client(stack.urls[index % 2] ?? ''));
      await eventually(() => expect(answers.length).toBeGreaterThan(total / 8), {
        timeoutMs: 60_000,
        intervalMs: 5,
      });
      const ended = stack.eventsService.kill(signal);
      await Promise.all(clients);
      expect(await ended).toEqual(end);
      await expectStoredAndPublishedOnce(type, answers);
    },
    limitMs,
  );
});

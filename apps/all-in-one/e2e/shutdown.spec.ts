import { eventually, type TestService } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type Answer, type EventRecord } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// A process that stops too slowly ends itself after 25 s with an error. The test must run long enough to see the error.
const limitMs = 90_000;
const requestsAtOnce = 5;
// When five requests arrive one after the other, three become batches of one event, and two wait for the next batch.
const batchesInFlight = 3;

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

  /** Sends requests and waits until all of them are in flight before the process gets its signal. */
  const terminateInMidFlight = async (process: TestService, type: string): Promise<Answer<EventRecord>[]> => {
    const held = await stack.holdWrites();
    const answers: Promise<Answer<EventRecord>>[] = [];
    for (let index = 0; index < batchesInFlight; index += 1) {
      answers.push(create(type));
      await held.untilWaiting(index + 1);
    }
    while (answers.length < requestsAtOnce) answers.push(create(type));
    await eventually(async () =>
      expect(await stack.gateway.metric('ingest_waiting_events')).toBe(requestsAtOnce - batchesInFlight),
    );
    const ended = process.kill('SIGTERM');
    await untilShuttingDown(process);
    await held.release();
    const settled = await Promise.all(answers);
    expect(await ended).toEqual({ code: 0, signal: null });
    return settled;
  };

  it(
    'of a gateway by SIGTERM completes every request in flight',
    async () => {
      const type = uniqueType('gateway');
      const gateway = stack.gateway;
      const answers = await terminateInMidFlight(gateway, type);
      await expect(create(type, gateway.url)).rejects.toThrow(); // it no longer listens
      stack.balanceRequests();
      await expectStoredAndPublishedOnce(type, answers);
    },
    limitMs,
  );

  it(
    'of an events service by SIGTERM completes every request in flight',
    async () => {
      const type = uniqueType('events');
      const answers = await terminateInMidFlight(stack.eventsService, type); // the stack has two
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
      await eventually(() => expect(answers.length).toBeGreaterThan(total / 8), { intervalMs: 5 });
      const ended = stack.eventsService.kill(signal);
      await Promise.all(clients);
      expect(await ended).toEqual(end);
      await expectStoredAndPublishedOnce(type, answers);
    },
    limitMs,
  );
});

import { jest } from '@jest/globals';
import {
  ServiceError,
  storeEventBatch,
  type NewEvent,
  type StoreEventBatchReply,
  type StoreEventBatchRequest,
  type StoreException,
} from '@stream-events/contracts';
import { ReplyTimeoutError, type RequestClient } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { EventIngest, IngestFullError, mayBeDeferred } from './event-ingest.service.js';

type Answer = 'stored' | Error;

/** Creates an EventIngest with a fake events service. `answer` supplies the reply; `batches` records the ids of each batch. */
function setUp({ circuitRestMs = 60_000 } = {}) {
  const batches: string[][] = [];
  const service = {
    answer: (): Answer | Promise<Answer> => 'stored',
    exceptions: [] as StoreException[],
    /** How many events the reply leaves out. */
    missing: 0,
    requests: [] as { subject: string; events: NewEvent[] }[],
  };
  const request = async (
    { subject }: { subject: string },
    { events }: StoreEventBatchRequest,
  ): Promise<StoreEventBatchReply> => {
    service.requests.push({ subject, events });
    batches.push(events.map(({ id }) => id));
    const answer = await service.answer();
    if (answer !== 'stored') throw answer;
    return { events: events.length - service.missing, exceptions: service.exceptions };
  };
  const client = { request } as unknown as RequestClient; // Safe cast: EventIngest only sends requests.
  const metrics = new Registry();
  const ingest = new EventIngest(client, createLogger('test', 'silent'), metrics, {
    app: 'gateway',
    hasFallback: false,
    circuitRestMs,
  });
  const store = (): Promise<string> =>
    ingest.store(newEvent()).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
    );
  const isDegraded = async (): Promise<boolean> =>
    (await metrics.getSingleMetric('ingest_degraded')?.get())?.values[0]?.value === 1;
  const readMetric = (name: string): Promise<string> => metrics.getSingleMetricAsString(name);
  return { batches, service, ingest, store, isDegraded, readMetric };
}

function newEvent(): NewEvent {
  return {
    id: uuidV7(),
    eventId: null,
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{}',
    idempotencyKey: null,
  };
}

const away = (): Error => new ServiceError('unavailable', 'away');
const silent = (): Error => new ReplyTimeoutError(storeEventBatch.subject, 2_000);

describe(EventIngest.name, () => {
  afterEach(() => jest.restoreAllMocks());

  describe('store', () => {
    it('sends the columns of every event, and returns the outcomes in their order', async () => {
      const { service, ingest } = setUp();
      const [first, second, third] = [
        newEvent(),
        newEvent(),
        { ...newEvent(), eventData: '{"user_id":"7"}' },
      ];
      service.exceptions = [{ index: 1, id: first.id, outcome: 'known' }];

      const outcomes = await Promise.all([first, second, third].map((event) => ingest.store(event)));

      expect(outcomes).toEqual([
        { id: first.id, outcome: 'stored' },
        { id: first.id, outcome: 'known' },
        { id: third.id, outcome: 'stored' },
      ]);
      expect(service.requests).toMatchObject([
        {
          subject: storeEventBatch.subject,
          events: [{ columns: { userId: null } }, {}, { columns: { userId: '7' } }],
        },
      ]);
    });

    it('counts the events by outcome, and their batches', async () => {
      const { service, ingest, store, readMetric } = setUp();
      const [first, second] = [newEvent(), newEvent()];
      service.exceptions = [{ index: 1, id: first.id, outcome: 'known' }];
      await Promise.all([first, second].map((event) => ingest.store(event)));
      service.answer = silent;
      await store();

      const labels = 'app="gateway",transport="api"';
      const counted = await readMetric('ingest_events_total');
      expect(counted).toContain(`ingest_events_total{${labels},outcome="stored"} 1`);
      expect(counted).toContain(`ingest_events_total{${labels},outcome="known"} 1`);
      expect(counted).toContain(`ingest_events_total{${labels},outcome="unavailable"} 1`);
      expect(counted).toContain(`ingest_events_total{${labels},outcome="failed"} 0`);
      expect(await readMetric('ingest_batch_events')).toContain('ingest_batch_events_sum{app="gateway"} 3');
      expect(await readMetric('ingest_batch_duration_seconds')).toContain(
        'ingest_batch_duration_seconds_count{app="gateway"} 2',
      );
    });

    it('fails when the reply covers another number of events than the batch', async () => {
      const { service, ingest } = setUp();
      service.missing = 1;

      await expect(
        Promise.all([newEvent(), newEvent()].map((event) => ingest.store(event))),
      ).rejects.toMatchObject({ code: 'internal' });
    });
  });

  describe('when the events service is not available', () => {
    it.each([
      ['away', away],
      ['silent', silent],
    ])('tries twice with the same ids, then rejects without a request (%s)', async (_how, error) => {
      const { batches, service, store, isDegraded } = setUp();
      service.answer = error;

      expect(await store()).toBe('unavailable');
      expect(await isDegraded()).toBe(true);
      expect(batches).toHaveLength(2);
      expect(batches[1]).toEqual(batches[0]);
      expect(await Promise.all([store(), store()])).toEqual(['unavailable', 'unavailable']);
      expect(batches).toHaveLength(2);
    });

    it('rejects the waiting events when the batches before them fail', async () => {
      const { batches, service, store } = setUp();
      let fail: (() => void)[] = [];
      service.answer = () => new Promise<Answer>((resolve) => fail.push(() => resolve(silent())));
      const inFlight: Promise<string>[] = [];
      for (let count = 1; count <= 3; count += 1) {
        inFlight.push(store());
        await eventually(() => expect(batches).toHaveLength(count));
      }
      const waiting = [store(), store()];

      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const [first] = fail;
        fail = [];
        first?.();
        if (attempt === 1) await eventually(() => expect(batches).toHaveLength(4));
      }

      expect(await Promise.all(waiting)).toEqual(['unavailable', 'unavailable']);
      expect(batches).toHaveLength(4);
    });

    it('rejects only the failed batch when another batch succeeded in the meantime', async () => {
      const { batches, service, store, isDegraded } = setUp();
      let fail: (() => void) | undefined;
      service.answer = () => new Promise<Answer>((resolve) => (fail = () => resolve(silent())));
      const unanswered = store();
      await eventually(() => expect(batches).toHaveLength(1));
      const failFirst = fail;
      service.answer = () => 'stored';
      expect(await store()).toBe('stored');

      service.answer = () => {
        service.answer = () => 'stored';
        return silent();
      };
      failFirst?.();

      expect(await unanswered).toBe('unavailable');
      expect(await isDegraded()).toBe(false);
      expect(await store()).toBe('stored');
    });

    it('sends one probe batch after the rest, rejects other events, and rests again when the probe fails', async () => {
      let now = 1_000;
      jest.spyOn(performance, 'now').mockImplementation(() => now);
      const { batches, service, store } = setUp({ circuitRestMs: 500 });
      service.answer = silent;
      await store();
      batches.length = 0;
      let end: ((answer: Answer) => void) | undefined;
      service.answer = () => new Promise<Answer>((resolve) => (end = resolve));
      now += 499;
      expect(await store()).toBe('unavailable');

      now += 1;
      const probe = store();
      await eventually(() => expect(batches).toHaveLength(1));
      expect(await store()).toBe('unavailable');
      end?.(silent());

      expect(await probe).toBe('unavailable');
      expect(batches).toHaveLength(1);
      expect(await store()).toBe('unavailable');
    });

    it('closes the circuit when a batch gets any reply, even an error', async () => {
      const { service, store, isDegraded } = setUp({ circuitRestMs: 50 });
      service.answer = away;
      await store();
      service.answer = () => new ServiceError('internal', 'a bug in the service');

      await eventually(async () => expect(await store()).toBe('internal'));
      expect(await isDegraded()).toBe(false);
      service.answer = () => 'stored';

      expect(await Promise.all([store(), store(), store()])).toEqual(['stored', 'stored', 'stored']);
    });
  });
});

describe(mayBeDeferred, () => {
  it.each([
    [true, new ServiceError('unavailable', 'The database is unavailable.')],
    [true, new ServiceError('internal', 'no entry in pg_hba.conf')],
    [false, new ServiceError('invalid', 'no type')],
    [false, new IngestFullError()],
    [false, new Error('a bug')],
  ])('is %s for %s', (expected, error) => {
    expect(mayBeDeferred(error)).toBe(expected);
  });
});

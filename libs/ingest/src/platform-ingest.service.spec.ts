import { jest } from '@jest/globals';
import { ServiceError, type EventWithColumns } from '@stream-events/contracts';
import { Registry, type Logger } from '@stream-events/service';
import type { EventIngest } from './event-ingest.service.js';
import type { IngestPublisher } from './ingest-publisher.js';
import { PlatformIngest } from './platform-ingest.service.js';

const away = new ServiceError('unavailable', 'the store is away');
const event = { id: 'id-1' } as EventWithColumns; // Safe cast: the fakes read no field.

/** Creates a PlatformIngest with a fake store and a fake INGEST stream, each of which can fail. */
function setUp({ hasFallback = true } = {}) {
  const faults: { store?: Error; stream?: Error } = {};
  const published: unknown[] = [];
  const ingest = {
    storeUncounted: () =>
      faults.store ? Promise.reject(faults.store) : Promise.resolve({ outcome: 'stored' }),
  };
  const publisher = {
    publish: (message: unknown) => {
      if (faults.stream) return Promise.reject(faults.stream);
      published.push(message);
      return Promise.resolve();
    },
  };
  const logged: string[] = [];
  const logger = { warn: (fields: object, text: string) => logged.push(`${text} ${JSON.stringify(fields)}`) };
  const metrics = new Registry();
  const sut = new PlatformIngest(
    // Safe casts: PlatformIngest calls only these methods.
    ingest as unknown as EventIngest,
    publisher as unknown as IngestPublisher,
    logger as unknown as Logger,
    metrics,
    { app: 'gateway', hasFallback },
  );
  const store = (): Promise<string> =>
    sut
      .store(event, 'webhook')
      .catch((error: unknown) => (error instanceof ServiceError ? error.code : String(error)));
  const isInUse = async (): Promise<unknown> =>
    (await metrics.getSingleMetric('ingest_fallback_in_use')?.get())?.values[0]?.value;
  return { faults, published, logged, store, isInUse, metrics };
}

describe(PlatformIngest.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('diverts messages to INGEST while the store is away, and logs the start and the end of the outage', async () => {
    const { faults, published, logged, store, isInUse } = setUp();
    expect(await store()).toBe('stored');
    faults.store = away;
    expect(await store()).toBe('deferred');
    expect(await store()).toBe('deferred');
    expect(published).toEqual([event, event]);
    expect(logged).toHaveLength(1);
    expect(await isInUse()).toBe(1);

    delete faults.store;
    expect(await store()).toBe('stored');
    expect(await isInUse()).toBe(1); // Some faults affect only some messages.
    jest.advanceTimersByTime(10_000);
    expect(await store()).toBe('stored');
    expect(await isInUse()).toBe(0);
    expect(logged[1]).toContain('{"deferred":2,"rejected":0}');
  });

  it('shows no outage 5 minutes after the last failure, even if no message arrives', async () => {
    const { faults, store, isInUse } = setUp();
    faults.store = away;
    await store();
    jest.advanceTimersByTime(299_999);
    expect(await isInUse()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(await isInUse()).toBe(0);
    await store();
    expect(await isInUse()).toBe(1);
  });

  it('rejects messages as unavailable when INGEST fails, too, with one warning', async () => {
    const { faults, logged, store } = setUp();
    faults.store = new ServiceError('internal', 'an unexpected failure');
    faults.stream = new Error('INGEST is full');
    expect(await store()).toBe('unavailable');
    expect(await store()).toBe('unavailable');
    expect(logged).toHaveLength(2);
    expect(logged[1]).toContain('cannot publish to the INGEST stream');
  });

  it('rejects messages as unavailable without a fallback', async () => {
    const { faults, published, store } = setUp({ hasFallback: false });
    faults.store = away;
    expect(await store()).toBe('unavailable');
    expect(published).toEqual([]);
  });

  it('does not divert a message that the store rejects', async () => {
    const { faults, published, store } = setUp();
    faults.store = new ServiceError('invalid', 'not an event');
    expect(await store()).toBe('invalid');
    expect(published).toEqual([]);
  });
});

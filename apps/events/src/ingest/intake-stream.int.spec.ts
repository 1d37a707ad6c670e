import { jest } from '@jest/globals';
import { intakeStreamName, type NewEvent } from '@stream-events/contracts';
import { createLogger } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { EventStore } from '../../test/event-store.js';
import { IngestSetup, type RunningDrain } from '../../test/ingest-setup.js';
import { newEvents } from '../../test/new-event.js';
import { IntakeStream } from './intake-stream.js';

let store: EventStore;
let setup: IngestSetup;
let drains: RunningDrain[];

beforeAll(async () => {
  [store, setup] = await Promise.all([EventStore.create(), IngestSetup.start()]);
});
afterAll(async () => {
  await Promise.all([store.close(), setup.close()]);
});
beforeEach(async () => {
  drains = [];
  setup.ackWaitMs = 30_000;
  await store.clear();
  await setup.deleteStream();
  await setup.deleteIntake();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(drains.map((drain) => drain.stop()));
});

async function startDrain(quietMs = 0): Promise<RunningDrain> {
  const drain = await setup.createDrain(store, quietMs);
  drains.push(drain);
  drain.drain.start();
  return drain;
}

// The broker redelivers messages of a stalled process after 30 s, so wait longer than that.
const redelivered = { timeoutMs: 70_000 };
jest.setTimeout(4 * redelivered.timeoutMs);

const untilDeleted = (): Promise<void> =>
  eventually(async () => expect(await setup.hasIntake()).toBe(false), redelivered);

async function readIntakeConfig() {
  const { streams } = await setup.manager();
  return (await streams.info(intakeStreamName)).config;
}

const idsOf = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id).sort();

describe(IntakeStream.name, () => {
  it('stores each message that version 0.1.0 left on the stream once, then deletes the stream', async () => {
    await setup.createIntake();
    const events = newEvents(250);
    await setup.publishToIntake(events);
    await store.writer.store(events.slice(0, 50)); // as if another instance had stored them and died before it acknowledged the messages

    await startDrain();
    await untilDeleted();

    expect(await store.storedIds()).toEqual(idsOf(events));
    expect(await store.count('dead_letters')).toBe(0);
  });

  it('drains messages that an old gateway still publishes, and keeps the stream until it is quiet', async () => {
    let now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    await setup.createIntake();
    const { metrics } = await startDrain(1_500);
    const events: NewEvent[] = [];
    for (let round = 0; round < 3; round += 1) {
      const batch = newEvents(5);
      events.push(...batch);
      await setup.publishToIntake(batch);
      await eventually(async () => expect(await store.storedIds()).toEqual(idsOf(events)), redelivered);
      // Each pause is shorter than the quiet period, but their sum is longer.
      now += 1_000;
    }
    await eventually(async () => {
      now += 1_500;
      expect(await setup.hasIntake()).toBe(false);
    }, redelivered);

    expect(await store.storedIds()).toEqual(idsOf(events));
    const drained = await metrics.getSingleMetric('events_ingest_drained_total')?.get();
    expect(drained?.values[0]?.value).toBe(events.length);
    await expect(setup.publishToIntake(newEvents(1))).rejects.toThrow(); // the old gateway responds with 503
  });

  it('drains both streams, and stores a message once when it is on both', async () => {
    await setup.createIntake();
    const both = newEvents(3, {}).map((event, index) => ({ ...event, eventId: `message-${index}` }));
    // Publish first: the drain deletes the stream as soon as it finds it empty.
    await setup.publishToIntake(both);
    await startDrain();
    await eventually(() => setup.publishEvents(both), redelivered);
    await untilDeleted();
    await eventually(async () => expect(await setup.count()).toBe(0), redelivered);

    expect(await store.storedIds()).toEqual(idsOf(both));
  });

  it('is deleted once when several instances drain it', async () => {
    await setup.createIntake();
    const events = newEvents(500);
    await setup.publishToIntake(events);

    await Promise.all([startDrain(), startDrain(), startDrain()]);
    await untilDeleted();

    expect(await store.storedIds()).toEqual(idsOf(events));
  });

  it('continues after a broker restart', async () => {
    await setup.createIntake();
    const events = newEvents(300);
    await setup.publishToIntake(events.slice(0, 200));
    await store.dataSource.query('ALTER TABLE outbox RENAME TO outbox_away');
    await startDrain();

    await setup.nats.kill();
    await setup.nats.restart();
    await setup.reconnect();
    await eventually(() => setup.publishToIntake(events.slice(200)), redelivered);
    await store.dataSource.query('ALTER TABLE outbox_away RENAME TO outbox');
    await untilDeleted();

    expect(await store.storedIds()).toEqual(idsOf(events));
  });

  it('is drained before INGEST exists when the broker has no disk space for both', async () => {
    await setup.createIntake();
    const events = newEvents(20, { eventData: JSON.stringify({ text: 'x'.repeat(500_000) }) });
    await setup.publishToIntake(events);
    const freeDisk = await setup.reserveDisk();
    try {
      // INTAKE reserved 2,048 MiB and shrinks to 64 MiB, plus 10 MiB for the messages that are not stored yet.
      const running = await setup.createDrain(store, 600_000, 1_980 / 1_024);
      drains.push(running);

      await running.drain.prepare();
      await expect(setup.count()).rejects.toThrow('stream not found');
      running.drain.start();

      await eventually(async () => expect(await store.storedIds()).toEqual(idsOf(events)), redelivered);
      await eventually(async () => expect(await setup.count()).toBe(0), redelivered);
    } finally {
      await freeDisk();
    }
  });

  it('is not created on a new installation', async () => {
    await startDrain();
    const event = newEvents(1);
    await eventually(() => setup.publishEvents(event), redelivered);
    await eventually(async () => expect(await store.storedIds()).toEqual(idsOf(event)), redelivered);

    expect(await setup.hasIntake()).toBe(false);
  });

  describe('prepare', () => {
    const create = (platform: string): IntakeStream =>
      new IntakeStream(setup.connection, { platform }, createLogger('test', 'silent'));

    it('rejects messages of another platform and leaves the stream unchanged', async () => {
      await setup.createIntake('simulator');
      const before = await readIntakeConfig();

      await expect(create('twitch').prepare()).rejects.toThrow(
        /"intake of platform simulator", but PLATFORM is twitch/,
      );

      expect(await readIntakeConfig()).toEqual(before);
    });

    it('frees the reserved disk space for INGEST, but keeps room for old gateways', async () => {
      await setup.createIntake();
      await setup.publishToIntake(newEvents(10));

      await create('simulator').prepare();

      const { max_bytes } = await readIntakeConfig();
      expect(max_bytes).toBeGreaterThan(64 * 1024 ** 2);
      expect(max_bytes).toBeLessThan(65 * 1024 ** 2);
    });

    it('waits for the full quiet time again when version 0.1.0 created the stream again', async () => {
      let now = performance.now();
      jest.spyOn(performance, 'now').mockImplementation(() => now);
      const sut = new IntakeStream(
        setup.connection,
        { platform: 'simulator', quietMs: 1_000 },
        createLogger('test', 'silent'),
      );
      await setup.createIntake();
      await sut.prepare();
      await eventually(async () => {
        now += 1_000;
        await sut.onIdle();
        expect(await setup.hasIntake()).toBe(false);
      });
      expect(await sut.prepare()).toBe(false);

      await setup.createIntake();
      await sut.prepare();
      await sut.onIdle();
      now += 999;
      await sut.onIdle();

      expect((await readIntakeConfig()).subjects).toEqual(['intake.events']);
    });

    it('returns false when there is no stream', async () => {
      expect(await create('simulator').prepare()).toBe(false);
      expect(await create('simulator').count()).toBe(0);
    });
  });
});

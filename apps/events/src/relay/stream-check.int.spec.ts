import { jetstreamManager } from '@nats-io/jetstream';
import { inboxPrefix, toEventMessage } from '@stream-events/contracts';
import { StreamPublisher } from '@stream-events/messaging';
import { Registry } from '@stream-events/service';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import { StreamSetup } from '../../test/stream-setup.js';
import { ForeignStreamError } from './events-stream.js';
import { OutboxRepository } from './outbox.repository.js';
import { StreamCheck } from './stream-check.service.js';
import { StreamRecordRepository, type EpochChange, type ReadRetained } from './stream-record.repository.js';
import type { StreamRecord } from './stream-verdict.js';

// A busy machine may exceed the client's default of 5 s.
const timeoutMs = 20_000;

let store: EventStore;
let stream: StreamSetup;
let publisher: StreamPublisher;
let outbox: OutboxRepository;

beforeAll(async () => {
  [store, stream] = await Promise.all([EventStore.create(), StreamSetup.start()]);
  publisher = new StreamPublisher(stream.connection, { inboxPrefix: inboxPrefix('events.events') });
  outbox = new OutboxRepository(store.dataSource);
});
afterAll(async () => {
  publisher.close();
  await Promise.all([store.close(), stream.close()]);
});
beforeEach(async () => {
  await store.clear();
  await stream.deleteStream();
});

const minute = 60_000;

/** Publishes all claimable batches, like a relay that trusts this epoch. */
async function publishOutbox(epoch: string): Promise<void> {
  for (let batches = await outbox.claim(100, []); batches.length > 0; batches = await outbox.claim(100, [])) {
    for (const { outboxId, events } of batches) {
      const lastSequence = await publisher.publish(events.map(toEventMessage));
      await outbox.retain([{ outboxId, lastSequence, isLate: false }], epoch);
    }
  }
}

/** Stores and publishes batches, and returns the event ids of each. */
async function publishBatches(epoch: string, count: number, size = 2): Promise<string[][]> {
  const batches = Array.from({ length: count }, () => newEvents(size));
  for (const batch of batches) await store.writer.store(batch);
  await store.dataSource.query("UPDATE outbox SET claimed_until = now() - interval '1 second'");
  await publishOutbox(epoch);
  return batches.map((batch) => batch.map((event) => event.id).sort());
}

/** Makes all batches look as if they had been published some minutes earlier. */
async function age(minutes: number): Promise<void> {
  const earlier = 'published_at - make_interval(secs => $1)';
  await store.dataSource.query(`UPDATE published_batches SET published_at = ${earlier}`, [minutes * 60]);
}

async function outboxIds(): Promise<string[][]> {
  const rows = await store.dataSource.query<{ ids: string[] }[]>(
    'SELECT ARRAY(SELECT unnest(event_ids) ORDER BY 1) AS ids FROM outbox WHERE claimed_until <= now() ORDER BY id',
  );
  return rows.map((row) => row.ids);
}

interface Retained {
  ids: string[];
  epoch: string;
  last: number;
}

async function retained(): Promise<Retained[]> {
  return store.dataSource.query<Retained[]>(
    `SELECT ARRAY(SELECT unnest(event_ids) ORDER BY 1) AS ids, epoch, last_sequence::int AS last
     FROM published_batches ORDER BY id`,
  );
}

async function streamIds(): Promise<string[]> {
  return (await stream.readStream()).map((message) => message.messageId).sort();
}

async function epochsCounted(metrics: Registry): Promise<Record<string, number>> {
  const metric = await metrics.getSingleMetric('events_stream_epochs_total')?.get();
  const values = (metric?.values ?? []).filter(({ value }) => value > 0);
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.reason), value]));
}

/** Crashes after the broker has changed the stream, but before the database commits. */
class CrashingRecords extends StreamRecordRepository {
  override change<Decision extends { change: EpochChange | undefined }>(
    decide: (record: StreamRecord, readRetained: ReadRetained) => Promise<Decision>,
  ): Promise<{ decision: Decision; returned: number }> {
    return super.change(async (record, readRetained) => {
      await decide(record, readRetained);
      throw new Error('crashed before the commit');
    });
  }
}

describe(StreamCheck.name, () => {
  describe('prepare', () => {
    it('creates the stream once, with one epoch, when several instances start at the same time', async () => {
      const checks = await Promise.all(Array.from({ length: 5 }, () => stream.createCheck(store)));

      const epochs = await Promise.all(checks.map((check) => check.prepare()));

      expect(new Set(epochs).size).toBe(1);
      expect(epochs[0]).toMatch(/^[0-9a-f]{8}$/);
      expect(await stream.readEpoch()).toBe(epochs[0]);
    });

    it('keeps the epoch and updates subjects and limits at the next start', async () => {
      const epoch = await (await stream.createCheck(store)).prepare();
      const manager = await jetstreamManager(stream.connection, { timeout: timeoutMs });
      await manager.streams.update('EVENTS', {
        ...(await stream.readInfo()).config,
        subjects: ['events.*.*.*'],
      });
      const check = await stream.createCheck(store, {
        stream: await stream.openStream({ maxAgeMs: 3 * 24 * 3_600_000 }),
      });

      expect(await check.prepare()).toBe(epoch);

      const { config } = await stream.readInfo();
      expect(config).toMatchObject({ subjects: ['events.>'], max_age: 3 * 24 * 3_600 * 1e9 });
      expect(await stream.readEpoch()).toBe(epoch);
    });

    it('gives an epoch to a stream of a version without epochs, and publishes nothing again', async () => {
      await stream.recreateStream();
      const manager = await jetstreamManager(stream.connection, { timeout: timeoutMs });
      const description = 'events of platform simulator';
      await manager.streams.update('EVENTS', { ...(await stream.readInfo()).config, description });
      await publisher.publish([toEventMessage({ ...newEvent(), broadcasterUserId: null, raidToId: null })]);
      const metrics = new Registry();

      const epoch = await (await stream.createCheck(store, { metrics })).prepare();

      expect(await stream.readEpoch()).toBe(epoch);
      expect((await stream.readInfo()).state.messages).toBe(1);
      expect(await outboxIds()).toEqual([]);
      expect(await epochsCounted(metrics)).toEqual({});
    });

    it('takes over the epoch of the stream when the database has none', async () => {
      await stream.recreateStream('0badcafe');

      expect(await (await stream.createCheck(store)).prepare()).toBe('0badcafe');
    });

    it('rejects a stream of another platform and leaves it unchanged', async () => {
      await (await stream.createCheck(store)).prepare();
      const before = await stream.readInfo();
      const other = await stream.openStream({ platform: 'twitch', maxAgeMs: 24 * 3_600_000 });

      await expect((await stream.createCheck(store, { stream: other })).prepare()).rejects.toThrow(
        ForeignStreamError,
      );

      expect((await stream.readInfo()).config).toEqual(before.config);
    });
  });

  describe('run, when the stream is intact', () => {
    it('changes nothing', async () => {
      const check = await stream.createCheck(store);
      const epoch = await check.prepare();
      const batches = await publishBatches(epoch, 3);

      expect(await check.run()).toBe(epoch);

      expect((await retained()).map(({ ids }) => ids)).toEqual(batches);
      expect(await outboxIds()).toEqual([]);
    });

    it('deletes only batches that were published more than five minutes ago', async () => {
      const check = await stream.createCheck(store);
      const epoch = await check.prepare();
      await publishBatches(epoch, 3);
      await age(1.1);
      const young = await publishBatches(epoch, 2);
      await age(4);

      await check.run();

      expect((await retained()).map(({ ids }) => ids)).toEqual(young);
    });

    it('deletes more batches than one statement handles', async () => {
      const check = await stream.createCheck(store);
      const epoch = await check.prepare();
      await publishBatches(epoch, 1);
      await store.dataSource.query(
        `INSERT INTO published_batches
         SELECT -n, '{}', $1, 1, now() - interval '6 minutes' FROM generate_series(1, 12000) n`,
        [epoch],
      );

      await check.run();

      expect(await store.count('published_batches')).toBe(1);
    });

    it('keeps the highest acknowledged sequence when the batches are deleted', async () => {
      const check = await stream.createCheck(store);
      const epoch = await check.prepare();
      await publishBatches(epoch, 3);
      await age(6);
      await check.run();
      expect(await retained()).toEqual([]);

      await stream.loseTail(5);

      expect(await check.run()).not.toBe(epoch);
    });

    it('publishes a batch again that was sent to an earlier epoch and recorded late', async () => {
      const check = await stream.createCheck(store);
      const old = await check.prepare();
      await stream.deleteStream();
      const epoch = await check.run();
      const [late] = await publishBatches(old, 1);

      expect(await check.run()).toBe(epoch);

      expect(await outboxIds()).toEqual([late]);
      expect(await retained()).toEqual([]);
    });
  });

  describe('run, when the stream is gone', () => {
    it('recreates the stream under a new epoch and publishes all retained batches again', async () => {
      const metrics = new Registry();
      const check = await stream.createCheck(store, { metrics });
      const old = await check.prepare();
      const batches = await publishBatches(old, 3);
      await stream.deleteStream();

      const epoch = await check.run();

      expect(epoch).not.toBe(old);
      expect(await stream.readEpoch()).toBe(epoch);
      expect(await outboxIds()).toEqual(batches);
      expect(await epochsCounted(metrics)).toEqual({ new: 1 });
      await publishOutbox(epoch);
      expect(await streamIds()).toEqual(batches.flat().sort());
      expect(await check.run()).toBe(epoch);
      expect(await outboxIds()).toEqual([]);
    });

    it('does not publish the whole store again', async () => {
      const check = await stream.createCheck(store);
      const old = await check.prepare();
      await publishBatches(old, 2);
      await age(6);
      await check.run();
      const [young] = await publishBatches(old, 1);
      await stream.deleteStream();

      await check.run();

      expect(await outboxIds()).toEqual([young]);
    });

    it('does the same when another program has recreated the stream and published to it', async () => {
      const check = await stream.createCheck(store);
      const old = await check.prepare();
      const batches = await publishBatches(old, 3);
      await stream.recreateStream('0badcafe');
      await publisher.publish([toEventMessage({ ...newEvent(), broadcasterUserId: null, raidToId: null })]);

      const epoch = await check.run();

      expect([old, '0badcafe']).not.toContain(epoch);
      expect(await stream.readEpoch()).toBe(epoch);
      expect((await outboxIds()).slice(0, 3)).toEqual(batches);
    });

    it('creates one new epoch when several instances find the loss at the same time', async () => {
      const metrics = [new Registry(), new Registry(), new Registry()];
      const checks = await Promise.all(
        metrics.map((registry) => stream.createCheck(store, { metrics: registry })),
      );
      const old = (await Promise.all(checks.map((check) => check.prepare())))[0] ?? '';
      const batches = await publishBatches(old, 4);
      await stream.deleteStream();

      const epochs = await Promise.all(checks.map((check) => check.run()));

      expect(new Set(epochs).size).toBe(1);
      expect(await stream.readEpoch()).toBe(epochs[0]);
      expect((await Promise.all(metrics.map(epochsCounted))).filter(({ new: made }) => made)).toHaveLength(1);
      expect(await outboxIds()).toEqual(batches);
    });
  });

  describe('run, when the stream has lost its tail', () => {
    it('publishes the lost events again and keeps the others under the new epoch', async () => {
      const metrics = new Registry();
      const check = await stream.createCheck(store, { metrics });
      const old = await check.prepare();
      const batches = await publishBatches(old, 5);
      await stream.loseTail(6);

      const epoch = await check.run();

      expect(epoch).not.toBe(old);
      expect(await stream.readEpoch()).toBe(epoch);
      expect(await outboxIds()).toEqual(batches.slice(3));
      expect(await retained()).toEqual(
        batches.slice(0, 3).map((ids, index) => ({ ids, epoch, last: 2 * index + 2 })),
      );
      expect(await epochsCounted(metrics)).toEqual({ lost_tail: 1 });
      await publishOutbox(epoch);
      expect(await streamIds()).toEqual(batches.flat().sort());
      expect(await check.run()).toBe(epoch);
    });

    it('publishes a batch again when only a part of it is lost', async () => {
      const check = await stream.createCheck(store);
      const batches = await publishBatches(await check.prepare(), 2);
      await stream.loseTail(3);

      await publishOutbox(await check.run());

      expect(await streamIds()).toEqual(batches.flat().sort());
    });

    it('finds the loss from a batch that this instance knows and the database does not yet', async () => {
      const check = await stream.createCheck(store);
      const epoch = await check.prepare();
      await publishBatches(epoch, 1);

      expect(await check.run([{ epoch, lastSequence: 2, eventIds: await streamIds() }])).toBe(epoch);
      expect(await check.run([{ epoch, lastSequence: 3, eventIds: [v7()] }])).not.toBe(epoch);
    });

    it.each([1, 2, 7])(
      'finds the lost batches when %d batches of other instances have taken their sequences',
      async (count) => {
        const check = await stream.createCheck(store);
        const old = await check.prepare();
        const batches = await publishBatches(old, 5);
        await stream.loseTail(4);
        const others = await publishBatches(old, count);

        const epoch = await check.run([{ epoch: old, lastSequence: 10, eventIds: batches[4] ?? [] }]);

        expect(await outboxIds()).toEqual(batches.slice(2));
        expect((await retained()).map(({ ids }) => ids)).toEqual([...batches.slice(0, 2), ...others]);
        await publishOutbox(epoch);
        expect(await streamIds()).toEqual([...batches, ...others].flat().sort());
      },
    );

    it('compares more batches than one page holds', async () => {
      const check = await stream.createCheck(store);
      const old = await check.prepare();
      await publishBatches(old, 1_100, 1);
      await stream.loseTail(1_050);
      const others = await publishBatches(old, 20, 1);

      await check.run();

      expect(await store.count('outbox')).toBe(50);
      expect((await retained()).slice(-20).map(({ ids }) => ids)).toEqual(others);
    }, 300_000);
  });

  describe('run, when an older backup of the stream was restored', () => {
    /** Stores events of batches that were published and then forgotten. */
    const storeForgotten = async (count: number, minutesAgo: number): Promise<string[]> => {
      const msecs = Date.now() - minutesAgo * minute;
      const events = Array.from({ length: count }, () => newEvent({ id: v7({ msecs }) }));
      await store.writer.store(events);
      await store.dataSource.query('TRUNCATE outbox');
      return events.map((event) => event.id).sort();
    };

    it('publishes all events again that were stored since the backup', async () => {
      const check = await stream.createCheck(store);
      const old = await check.prepare();
      const onBackup = await publishBatches(old, 2);
      const missing = await storeForgotten(600, 4); // the check looks back 5 minutes from the last message
      await storeForgotten(5, 20); // stored before the backup, whose last message arrived just now
      await age(6);
      await check.run();
      const young = await publishBatches(old, 2);
      await stream.loseTail(2);

      const epoch = await check.run();

      const batches = await outboxIds();
      expect(batches.every((ids) => ids.length <= 256)).toBe(true);
      expect(new Set(batches.flat())).toEqual(new Set([...onBackup, ...young, missing].flat()));
      await publishOutbox(epoch);
      expect(await streamIds()).toEqual([...onBackup, ...young, missing].flat().sort());
    });

    it('reads the store page by page, in batches that fit into memory', async () => {
      const check = await stream.createCheck(store);
      await publishBatches(await check.prepare(), 1);
      const missing = await storeForgotten(5_200, 3);
      const big = newEvents(8, { eventData: JSON.stringify({ text: 'x'.repeat(250_000) }) });
      await store.writer.store(big);
      await store.dataSource.query('TRUNCATE outbox, published_batches');
      await store.dataSource.query('UPDATE event_stream SET last_sequence = 1000');

      await check.run();

      const batches = await outboxIds();
      const ids = new Set(batches.flat());
      expect(ids.size).toBe(batches.flat().length);
      expect([...missing, ...big.map((event) => event.id)].filter((id) => !ids.has(id))).toEqual([]);
      const bigOnes = batches.map((batch) => big.filter((event) => batch.includes(event.id)).length);
      expect(Math.max(...bigOnes)).toBeLessThanOrEqual(3);
      expect(Math.max(...batches.map((batch) => batch.length))).toBe(256);
    });
  });

  describe('a crash', () => {
    it('before the broker has changed anything leaves the repair to the next check', async () => {
      const failing = await stream.openStream();
      failing.create = () => Promise.reject(new Error('crashed'));
      const check = await stream.createCheck(store);
      const batches = await publishBatches(await check.prepare(), 2);
      await stream.deleteStream();

      await expect((await stream.createCheck(store, { stream: failing })).run()).rejects.toThrow('crashed');
      expect(await outboxIds()).toEqual([]);
      await publishOutbox(await check.run());

      expect(await streamIds()).toEqual(batches.flat().sort());
    });

    it.each([
      ['the stream was recreated', () => stream.deleteStream()],
      ['the stream that lost its tail has its new epoch', () => stream.loseTail(3)],
    ])('when %s but nothing is committed loses no events', async (_, lose) => {
      const check = await stream.createCheck(store);
      const old = await check.prepare();
      const batches = await publishBatches(old, 3);
      await lose();
      const crashing = await stream.createCheck(store, { records: new CrashingRecords(store.dataSource) });

      await expect(crashing.run()).rejects.toThrow('crashed before the commit');
      const forgottenByAll = await stream.readEpoch();
      expect(forgottenByAll).not.toBe(old);
      // Another instance, unaware of the new epoch, keeps publishing under the old one.
      const meanwhile = await publishBatches(old, 1);
      const epoch = await check.run();

      expect([old, forgottenByAll]).not.toContain(epoch);
      await publishOutbox(epoch);
      expect(await streamIds()).toEqual([...batches, ...meanwhile].flat().sort());
    });

    it('after the commit lets any instance publish the lost batches', async () => {
      const batches = await publishBatches(await (await stream.createCheck(store)).prepare(), 3);
      await stream.deleteStream();
      const epoch = await (await stream.createCheck(store)).run();

      expect(await (await stream.createCheck(store)).prepare()).toBe(epoch);
      await publishOutbox(epoch);

      expect(await streamIds()).toEqual(batches.flat().sort());
    });
  });
});

import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import {
  dropPartitions,
  retainFor,
  retentionSession,
  runPass,
  type RetainingInstance,
} from '../../test/retaining-store.js';
import { firstIdAt, type NewEvent } from '@stream-events/contracts';
import { OutboxRepository } from '../relay/outbox.repository.js';
import { PartitionRemover } from './partition-remover.service.js';
import { Retention } from './retention.service.js';

const day = 24 * 3_600_000;

let store: EventStore;
let daily: RetainingInstance;
let other: RetainingInstance;
beforeAll(async () => {
  store = await EventStore.create();
  [daily, other] = [retainFor(store, 7), retainFor(store, 7)];
});
afterAll(() => store.close());
beforeEach(() => dropPartitions(store));
afterEach(async () => {
  jest.restoreAllMocks();
  for (const release of openTransactions) await release();
});

const openTransactions = new Set<() => Promise<void>>();

const running = (): AbortSignal => new AbortController().signal;

/** Returns the first millisecond that a retention of 7 days keeps. */
const cutoff = (): number => Math.floor(Date.now() / day) * day - 7 * day;

function at(msecs: number): NewEvent {
  return newEvent({ id: v7({ msecs }), eventId: `message-${msecs}` });
}

/** Stores events in daily partitions. */
async function storeDaily(events: readonly NewEvent[]): Promise<void> {
  await daily.partitions.ensureFor(events.map(({ id }) => id));
  await store.writer.store(events);
}

async function names(): Promise<string[]> {
  return (await store.partitions.readCatalog()).map(({ name }) => name);
}

async function stateOf(partition: string): Promise<string> {
  const [row] = await store.dataSource.query<{ state: string }[]>(
    `SELECT CASE WHEN to_regclass($1) IS NULL THEN 'gone' WHEN NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1))
       THEN 'detached' WHEN (SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass($1)) THEN 'detaching'
       ELSE 'attached' END AS state`,
    [partition],
  );
  return row?.state ?? '';
}

/**
 * Runs a statement in a transaction that stays open; by default one that reads the events, like a backup. Returns a function that ends the
 * transaction.
 */
async function holdOpen(statement = 'SELECT count(*) FROM events'): Promise<() => Promise<void>> {
  const session = await store.beginTransaction('REPEATABLE READ');
  await session.query(statement);
  const release = async (): Promise<void> => {
    openTransactions.delete(release);
    await session.rollbackTransaction();
    await session.release();
  };
  openTransactions.add(release);
  return release;
}

/** Stores one event in an expired partition and one that retention keeps. Returns both, and the name of the expired partition. */
async function storeExpired(): Promise<{ expired: NewEvent; kept: NewEvent; partition: string }> {
  const [expired, kept] = [at(cutoff() - 5 * day), at(cutoff())];
  await storeDaily([expired, kept]);
  return { expired, kept, partition: (await names()).at(-1) ?? '' };
}

describe(Retention.name, () => {
  describe('run', () => {
    it('drops expired partitions and deletes the expired events of the one in use, exact to the day', async () => {
      const edge = cutoff();
      const kept = [at(edge), at(edge + 1), at(Date.now())];
      // Several daily partitions have expired, and a later monthly one has expired in part.
      await storeDaily([at(edge - 62 * day), at(edge - 61 * day)]);
      await store.writer.store([at(edge - 1), at(edge - day), ...kept]);

      await runPass(daily);

      expect(await store.storedIds()).toEqual(kept.map(({ id }) => id));
      expect((await names()).filter((name) => /_\d\d_\d\d$/.test(name))).toEqual([]);
      expect(await daily.records.readRemovedBefore()).toBe(edge);
      expect(await daily.records.readRemoving()).toBeNull();
    });

    it('deletes expired events in batches', async () => {
      const edge = cutoff();
      await store.generate(5_000, edge - 4_000);

      const sut = retainFor(store, 7);
      await runPass(sut);

      // The events are one millisecond apart, starting at edge - 3999. Retention keeps those from the edge on.
      expect(await store.count('events')).toBe(1_001);
      expect(await sut.metrics.getSingleMetric('events_retention_rows_total')?.get()).toMatchObject({ values: [{ value: 3_999 }] }); // prettier-ignore
    });

    it('removes nothing when RETENTION_DAYS is 0', async () => {
      await storeDaily([at(Date.UTC(2020, 0, 1))]);

      await runPass(retainFor(store, 0));

      expect(await store.count('events')).toBe(1);
      expect(await daily.records.readRemovedBefore()).toBeNull();
    });

    it("removes nothing too early when this machine's clock is ahead", async () => {
      const event = at(Date.now());
      await storeDaily([event]);
      const now = Date.now();
      jest.spyOn(Date, 'now').mockImplementation(() => now + 1_000 * day);

      await runPass(daily);

      expect(await store.storedIds()).toEqual([event.id]);
    });

    it('runs in one session at a time', async () => {
      const { kept } = await storeExpired();
      // Block the first pass at its record. The pass waits there for 10 s, which is longer than it waits for the locks on partitions.
      const release = await holdOpen('LOCK TABLE retention');
      const first = daily.retention.run(running()).catch((error: unknown) => error);
      await eventually(async () => {
        const waiting = await store.dataSource.query<unknown[]>(
          "SELECT FROM pg_locks WHERE relation = 'retention'::regclass AND NOT granted",
        );
        expect(waiting).toHaveLength(1);
      });

      expect(await other.retention.run(running())).toBe(false);

      await release();
      await first;
      await runPass(other);
      expect(await store.storedIds()).toEqual([kept.id]);
    });

    it('removes everything that has expired when two instances run at the same time', async () => {
      const expired = [1, 2, 3, 4, 5, 6].map((days) => at(cutoff() - days * day));
      const kept = at(cutoff());
      await storeDaily([...expired, kept]);
      const instances = [retainFor(store, 7), retainFor(store, 7)];

      for (const { retention } of instances) retention.start();
      await eventually(async () => expect(await names()).toHaveLength(1), { timeoutMs: 50_000 });
      await Promise.all(instances.map(({ retention }) => retention.stop()));

      expect(await store.storedIds()).toEqual([kept.id]);
      expect(await daily.records.readRemoving()).toBeNull();
    });

    it('keeps dead letters for 30 days', async () => {
      await store.writer.store([newEvent({ eventData: '{' }), newEvent({ eventData: '{' })]);
      await store.dataSource.query(
        "UPDATE dead_letters SET failed_at = now() - interval '32 days' WHERE key = (SELECT min(key::text)::uuid FROM dead_letters)",
      );

      await runPass(retainFor(store, 0));
      expect(await store.count('dead_letters')).toBe(2);
      await runPass(daily);
      expect(await store.count('dead_letters')).toBe(1);
    });
  });

  describe('run, interrupted', () => {
    it('fails while a long transaction reads the partition, hides the expired events, and removes them later', async () => {
      const { kept, partition } = await storeExpired();
      const release = await holdOpen();

      await expect(daily.retention.run(running())).rejects.toMatchObject({ code: '55P03' });

      expect(await stateOf(partition)).toBe('detaching');
      expect(await store.storedIds()).toEqual([kept.id]);
      expect((await daily.partitions.list()).map(({ name }) => name)).not.toContain(partition);
      // Ingest continues, even when events need a new partition.
      const [added, ahead] = [newEvent(), at(Date.now() + 40 * day)];
      expect((await daily.writer.store([added, ahead])).map(({ outcome }) => outcome)).toEqual([
        'stored',
        'stored',
      ]);
      await eventually(() => expect(other.retention.run(running())).rejects.toMatchObject({ code: '55P03' }));
      await release();
      await runPass(other);
      expect(await stateOf(partition)).toBe('gone');
      expect(await store.storedIds()).toEqual([kept.id, added.id, ahead.id]);
      expect(await daily.records.readRemoving()).toBeNull();
    });

    it.each([
      ['is stopped', (stopping: AbortController) => Promise.resolve().then(() => stopping.abort())],
      [
        'loses its connection',
        () =>
          store.dataSource.query(
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
            [retentionSession],
          ),
      ],
    ])('completes a detachment that was interrupted because its instance %s', async (_, interrupt) => {
      const { kept, partition } = await storeExpired();
      const release = await holdOpen();
      const stopping = new AbortController();
      const first = daily.retention.run(stopping.signal).then(
        () => 'completed',
        () => 'interrupted',
      );
      await eventually(async () => expect(await stateOf(partition)).toBe('detaching'));

      await interrupt(stopping);

      expect(await first).toBe('interrupted');
      expect(await stateOf(partition)).toBe('detaching');
      await release();
      await runPass(other);
      expect(await stateOf(partition)).toBe('gone');
      expect(await store.storedIds()).toEqual([kept.id]);
      expect(await daily.records.readRemoving()).toBeNull();
    });

    it('drops a partition that was detached before a crash', async () => {
      const { kept, partition } = await storeExpired();
      await store.dataSource.query('UPDATE retention SET removing = $1', [partition]);
      await store.dataSource.query(`ALTER TABLE events DETACH PARTITION ${partition} CONCURRENTLY`);

      await runPass(daily);

      expect(await stateOf(partition)).toBe('gone');
      expect(await store.storedIds()).toEqual([kept.id]);
    });

    it('decides again about a partition that was not detached before a crash', async () => {
      const { expired, kept, partition } = await storeExpired();
      await store.dataSource.query('UPDATE retention SET removing = $1', [partition]);

      await runPass(retainFor(store, 30));
      expect(await store.storedIds()).toEqual([expired.id, kept.id]);
      expect(await daily.records.readRemoving()).toBeNull();

      await runPass(daily);
      expect(await store.storedIds()).toEqual([kept.id]);
    });

    it('never drops a partition that an operator has detached', async () => {
      const { partition } = await storeExpired();
      await store.dataSource.query(`ALTER TABLE events DETACH PARTITION ${partition} CONCURRENTLY`);

      await runPass(daily);

      expect(await stateOf(partition)).toBe('detached');
      await store.dataSource.query(`DROP TABLE ${partition}`);
    });

    it('removes partitions in the background from the start, and stops while it waits for a transaction', async () => {
      const { kept, partition } = await storeExpired();
      const release = await holdOpen();
      daily.retention.start();
      await eventually(async () => expect(await stateOf(partition)).toBe('detaching'));

      await daily.retention.stop();

      // Without the cancellation, the session would still be waiting for the open transaction.
      await eventually(async () => {
        const sessions = await store.dataSource.query<unknown[]>(
          "SELECT FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() AND state = 'active'",
          [retentionSession],
        );
        expect(sessions).toEqual([]);
      });
      await release();
      const restarted = retainFor(store, 7).retention;
      restarted.start();
      await eventually(async () => expect(await stateOf(partition)).toBe('gone'));
      await restarted.stop();
      expect(await store.storedIds()).toEqual([kept.id]);
    });
  });

  describe(PartitionRemover.name, () => {
    it('continues after the last deleted event, and begins each new cutoff at the first event', async () => {
      const [edge, lowestId] = [Date.UTC(2024, 0, 15), '00000000-0000-0000-0000-000000000000'];
      await store.generate(5_001, edge - 5_001);
      const ids = await store.storedIds();
      const { remover, sessions } = retainFor(store, 7);
      const session = await eventually(async () => {
        const opened = await sessions.open('partitionMaintenance', running());
        if (!opened) throw new Error('the session of an earlier pass has not ended');
        return opened;
      });
      const query = jest.spyOn(session, 'query');
      /** Removes events before the cutoff, and returns the id from which each statement started. */
      const removeBefore = async (cutoff: number): Promise<unknown[]> => {
        query.mockClear();
        await remover.run({ session, stopping: running() }, cutoff);
        return query.mock.calls.flatMap(([sql, values]) => (sql.includes('DELETE') ? [values?.[0]] : []));
      };

      expect(await removeBefore(edge)).toEqual([lowestId, ids[1_999], ids[3_999], ids[4_999]]);
      expect(await store.storedIds()).toEqual(ids.slice(5_000));
      // Add an expired event, as from a writer whose clock is behind.
      await store.writer.store([at(edge - 5_500)]);
      expect(await removeBefore(edge)).toEqual([]);

      expect(await removeBefore(edge + 1)).toEqual([lowestId, ids[5_000]]);
      expect(await store.storedIds()).toEqual([]);
      await session.close();
    });
  });

  it('drops partitions while events are stored, listed, found, and claimed, without a single error', async () => {
    const rounds = 6;
    const stopping = new AbortController();
    await daily.partitions.ensureAhead(Date.now());
    let stored = 0;
    const ingest = async (): Promise<void> => {
      const outcomes = await daily.writer.store(newEvents(20));
      stored += outcomes.filter(({ outcome }) => outcome === 'stored').length;
      expect(outcomes.filter(({ outcome }) => outcome !== 'stored')).toEqual([]);
    };
    const list = async (): Promise<void> => {
      await daily.reader.listEvents({ filters: {}, limits: {}, pageSize: 100 });
      await daily.reader.listEvents({ filters: { eventType: 'channel-follow' }, limits: {}, pageSize: 10 });
      // No index covers both conditions, so the list checks rows.
      await daily.reader.listEvents({
        filters: { userId: '1', broadcasterUserId: '4711' },
        limits: {},
        pageSize: 10,
      });
      const position = { direction: 'newer', id: firstIdAt(0), inclusive: true } as const;
      await daily.reader.listEvents({ filters: {}, limits: {}, pageSize: 1, position });
    };
    const find = async (): Promise<void> => {
      for (const id of [v7({ msecs: cutoff() - 3 * day }), 'message-1'])
        await expect(daily.reader.getEvent({ id, limits: {} })).rejects.toMatchObject({ code: 'not_found' });
    };
    const outbox = new OutboxRepository(store.dataSource);
    const claim = async (): Promise<void> => {
      await store.dataSource.query("UPDATE outbox SET claimed_until = now() - interval '1 second'");
      await outbox.claim(8, []);
    };
    const repeat = async (work: () => Promise<void>): Promise<void> => {
      while (!stopping.signal.aborted) await work();
    };
    const load = Promise.all([ingest, ingest, list, list, find, claim].map(repeat));

    const remove = async (): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        const old = [1, 2, 3].map((days) => newEvent({ id: v7({ msecs: cutoff() - days * day }) }));
        await storeDaily(old);
        await runPass(daily);
      }
    };
    await Promise.race([remove(), load]).finally(() => stopping.abort());
    await load;

    expect(await store.count('events')).toBe(stored);
    expect(await store.count('dead_letters')).toBe(0);
    expect(await daily.metrics.getSingleMetric('events_retention_partitions_total')?.get()).toMatchObject({
      values: [{ value: expect.any(Number) }],
    });
    expect((await names()).every((name) => name >= 'events_2')).toBe(true);
  }, 240_000);
});

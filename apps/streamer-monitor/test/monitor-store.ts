import { connectDatabase } from '@stream-events/database';
import { createLogger } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource, EntityManager } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { PollRecorder } from '../src/polling/poll-recorder.service.js';
import { schema } from '../src/streamer-monitor.database.js';
import { MonitoredStreamersRepository } from '../src/streams/monitored-streamers.repository.js';
import { Streamer } from '../src/streamers/streamer.entity.js';
import { OfflineEvent } from '../src/streams/offline-event.entity.js';
import { StreamListRepository } from '../src/streams/stream-list.repository.js';
import { StreamRecorder } from '../src/streams/stream-recorder.service.js';
import { Stream } from '../src/streams/stream.entity.js';
import { StreamsRepository } from '../src/streams/streams.repository.js';

/** Streamers and streams in a test's own database. */
export class MonitorStore {
  readonly streamers = new MonitoredStreamersRepository();
  readonly streams = new StreamsRepository();
  readonly recorder: StreamRecorder;
  readonly polls: PollRecorder;
  readonly list: StreamListRepository;

  private constructor(
    readonly database: TestDatabase,
    readonly dataSource: DataSource,
  ) {
    this.recorder = new StreamRecorder(dataSource, this.streamers, this.streams);
    this.polls = this.createPolls(dataSource);
    this.list = new StreamListRepository(dataSource);
  }

  static async create(): Promise<MonitorStore> {
    const database = await createTestDatabase();
    // More connections than any test uses at a time, so that no test waits for a free connection.
    return new MonitorStore(database, await connectMonitor(database, 24));
  }

  /**
   * Runs `work` in one transaction, where the database's `now()` stands still, so that due times do not depend on the machine's speed.
   * Transactions that `work` begins become part of it.
   */
  stopClock<T>(work: (dataSource: DataSource) => Promise<T>): Promise<T> {
    return this.dataSource.transaction((manager) => {
      const stopped: unknown = {
        query: (sql: string, parameters?: unknown[]) => manager.query(sql, parameters),
        transaction: (change: (transaction: EntityManager) => Promise<unknown>) => change(manager),
      };
      return work(stopped as DataSource); // Safe cast: the recorders and ClaimsRepository only call these two methods.
    });
  }

  createPolls(dataSource: DataSource): PollRecorder {
    const recorder = new StreamRecorder(dataSource, this.streamers, this.streams);
    const logger = createLogger('test', 'silent');
    return new PollRecorder(dataSource, this.streamers, this.streams, recorder, logger);
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
    await this.database.drop();
  }

  async clear(): Promise<void> {
    // Lock these tables in the same order as running services, and the others one by one, so that no deadlock occurs.
    await this.dataSource.query('TRUNCATE streamers, offline_events, streams');
    for (const table of ['stream_samples', 'removed_streams', 'rebuilds'])
      await this.dataSource.query(`TRUNCATE ${table}`);
  }

  /** Adds a streamer about which the platform has reported nothing. A test passes only the fields that matter to it. */
  async addStreamer(overrides: Partial<Streamer> = {}): Promise<Streamer> {
    const id = uuidV7();
    const now = new Date();
    const streamer = this.dataSource.manager.create(Streamer, {
      id,
      platformUsername: 'mira',
      platformId: id.slice(-12),
      namedAt: new Date(0),
      streaming: false,
      isStreamingKnown: false,
      disabled: false,
      createdAt: now,
      updatedAt: now,
      polledAt: null,
      absentSince: null,
      nextPollAt: now,
      nextNamingAt: new Date(now.getTime() + 900_000),
      ...overrides,
    });
    await this.dataSource.manager.insert(Streamer, streamer);
    return streamer;
  }

  streamer({ id }: Streamer): Promise<Streamer> {
    return this.dataSource.manager.findOneByOrFail(Streamer, { id });
  }

  /** Sorted by start. */
  streamsOf({ id }: Streamer): Promise<Stream[]> {
    return this.dataSource.manager.find(Stream, { where: { streamerId: id }, order: { startedAt: 'ASC' } });
  }

  offlineEventsOf({ id }: Streamer): Promise<OfflineEvent[]> {
    return this.dataSource.manager.findBy(OfflineEvent, { streamerId: id });
  }

  async count(table: 'stream_samples' | 'removed_streams' | 'streams'): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM ${table}`,
    );
    return row?.count ?? 0;
  }
}

/** Connects to the test's own database and creates the monitor's schema there. */
export function connectMonitor(database: TestDatabase, poolSize: number): Promise<DataSource> {
  return connectDatabase({
    url: database.urlFor(schema.name),
    schema: schema.name,
    entities: schema.entities,
    migrations: schema.migrations,
    applicationName: 'test',
    poolSize,
    // A busy machine may need more than a service's 3 s to open many connections at once.
    connectTimeoutMs: 30_000,
    // Tests insert thousands of rows at once, and hold locks for which a service waits: both can exceed the default of 10 s.
    statementTimeoutMs: 60_000,
  });
}

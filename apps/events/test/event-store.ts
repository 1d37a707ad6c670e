import { connectDatabase, createPool, type PoolOptions } from '@stream-events/database';
import { createLogger, Registry, UserHasher } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { Pool } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { schema } from '../src/events.database.js';
import { ChannelChanges } from '../src/store/channel-changes.repository.js';
import { EventWriter } from '../src/store/event-writer.service.js';
import { DeadLettersRepository } from '../src/store/dead-letters.repository.js';
import { DeadLettersService } from '../src/dead-letters/dead-letters.service.js';
import { EventListRepository } from '../src/event-list/event-list.repository.js';
import { EventStatistics } from '../src/event-list/event-statistics.js';
import { listPoolOptions } from '../src/event-list/list-pool.js';
import { PageReader } from '../src/event-list/page-reader.js';
import { PartitionCatalog } from '../src/event-list/partition-catalog.js';
import { StatementRunner } from '../src/event-list/statement-runner.js';
import type { OutboxBatch } from '../src/relay/outbox.repository.js';
import type { Relay } from '../src/relay/relay.service.js';
import { ErasedUsers } from '../src/store/erased-users.service.js';
import type { IndexReadiness } from '../src/store/event-indexes.js';
import { EventsRepository } from '../src/store/events.repository.js';
import { PartitionsRepository } from '../src/store/partitions.repository.js';

// Services give up after 3 s. Tests wait longer, because parallel tests slow them down.
const connectTimeoutMs = 30_000;
const rowsPerStatement = 2_500;

/** An event store in its own database. Collects batches instead of handing them to a relay. */
export class EventStore {
  readonly handedToRelay: OutboxBatch[] = [];
  readonly metrics = new Registry();
  readonly changes: ChannelChanges;
  readonly hasher = new UserHasher(Buffer.from('the key for the hashes of the tests'));
  readonly erasedUsers: ErasedUsers;
  readonly events: EventsRepository;
  readonly partitions: PartitionsRepository;
  readonly list: EventListRepository;
  readonly listPool: Pool;
  readonly statistics: EventStatistics;
  /** Which indexes lists may use. */
  indexes: IndexReadiness = { isReady: () => true };
  /** How far the page clock advances on each read, in milliseconds. */
  pageClockStep = 0;
  readonly deadLetters: DeadLettersRepository;
  readonly writer: EventWriter;
  readonly deadLettersService: DeadLettersService;
  private readonly pools: Pool[];

  private constructor(
    readonly database: TestDatabase,
    readonly dataSource: DataSource,
    writePool: Pool,
  ) {
    this.pools = [writePool];
    this.changes = new ChannelChanges(dataSource);
    const logger = createLogger('test', 'silent');
    this.erasedUsers = new ErasedUsers(dataSource, this.hasher, logger);
    this.events = new EventsRepository(dataSource, writePool, this.changes, this.erasedUsers);
    this.partitions = new PartitionsRepository(dataSource);
    this.listPool = this.openPool('events-list', 20, listPoolOptions);
    this.statistics = new EventStatistics(dataSource, this.partitions, logger);
    let now = 0;
    const pages = new PageReader(
      new PartitionCatalog(this.partitions, this.listPool),
      new StatementRunner(this.listPool),
      () => (now += this.pageClockStep),
    );
    this.list = new EventListRepository(dataSource, pages, this.statistics, {
      isReady: (name) => this.indexes.isReady(name),
    });
    this.deadLetters = new DeadLettersRepository(dataSource, logger);
    this.writer = this.createWriter(this.partitions, this.metrics);
    this.deadLettersService = new DeadLettersService(this.deadLetters, this.writer, logger, this.metrics);
  }

  static async create(): Promise<EventStore> {
    const database = await createTestDatabase();
    const connection = {
      url: database.urlFor(schema.name),
      schema: schema.name,
      applicationName: 'events-test',
      poolSize: 20,
      connectTimeoutMs,
    };
    const { entities, migrations } = schema;
    const dataSource = await connectDatabase({ ...connection, entities, migrations });
    return new EventStore(database, dataSource, createPool(connection));
  }

  /** Creates another writer, with the given repositories of partitions and events. */
  createWriter(
    partitions: PartitionsRepository,
    metrics: Registry,
    events: EventsRepository = this.events,
  ): EventWriter {
    const relay: Pick<Relay, 'publish'> = { publish: (batch) => void this.handedToRelay.push(batch) };
    // Safe cast: the writer only calls `publish`.
    return new EventWriter(events, partitions, relay as Relay, this.deadLetters, metrics);
  }

  /** Opens another connection pool, which `close` ends. */
  openPool(applicationName: string, poolSize: number, options: Partial<PoolOptions> = {}): Pool {
    const url = this.database.urlFor(schema.name);
    const pool = createPool({
      url,
      schema: schema.name,
      applicationName,
      poolSize,
      connectTimeoutMs,
      ...options,
    });
    this.pools.push(pool);
    return pool;
  }

  /** Begins a transaction that may stay open and idle; otherwise, PostgreSQL would end it after 10 s without a statement. */
  async beginTransaction(isolation?: 'REPEATABLE READ'): Promise<QueryRunner> {
    const session = this.dataSource.createQueryRunner();
    await session.startTransaction(isolation);
    await session.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    return session;
  }

  async close(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end()));
    await this.dataSource.destroy();
    await this.database.drop();
  }

  /** Deletes all events, the records about them, and erasures, and forgets the stream. Partitions stay. */
  async clear(): Promise<void> {
    this.handedToRelay.length = 0;
    await this.dataSource.query(
      `TRUNCATE events, received_messages, outbox, published_batches, dead_letters, channel_changes, stream_summaries,
         erasures, erased_messages, raid_reports`,
    );
    await this.dataSource.query('UPDATE event_stream SET epoch = NULL, last_sequence = 0');
  }

  /**
   * Records an erasure that has already searched the store and covers events received up to a minute from now. During this minute, the
   * store ignores new events of this user.
   */
  async noteErased(platformUserId: string): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO erasures (id, user_hash, is_dry_run, stage, stage_began_at, progress, counts, created_at, erases_until,
         ended_at, leased_until)
       VALUES (gen_random_uuid(), $1, false, 'done', now(), 1, '{}', now(), now() + interval '1 minute', now(), now())`,
      [this.hasher.hash(platformUserId)],
    );
    await this.erasedUsers.refresh();
  }

  /** Returns the ids of all stored events, oldest first. */
  async storedIds(): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>('SELECT id FROM events ORDER BY id');
    return rows.map((row) => row.id);
  }

  async count(
    table:
      'events' | 'received_messages' | 'outbox' | 'published_batches' | 'dead_letters' | 'stream_summaries',
  ): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM ${table}`,
    );
    return row?.count ?? 0;
  }

  /**
   * Stores `count` events quickly, one per millisecond: event `n`, counted from 1, is received at `from + n`. `columns` are SQL expressions
   * of `n`.
   */
  async generate(count: number, from: number, columns: Record<string, string> = {}): Promise<void> {
    await this.partitions.ensureAhead(from);
    const values: Record<string, string> = {
      id: `(lpad(to_hex(${from}::bigint + n), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid`,
      event_type: "'channel-follow'",
      event_source: "'PlatformSub'",
      origin: "'platform'",
      event_data: "'{}'::json",
      ...columns,
    };
    // Insert in parts: a statement may take 10 s, and a busy machine needs longer for all rows.
    for (let first = 1; first <= count; first += rowsPerStatement)
      await this.dataSource.query(
        `INSERT INTO events (${Object.keys(values).join(', ')})
         SELECT ${Object.values(values).join(', ')}
         FROM generate_series(${first}, ${Math.min(first + rowsPerStatement - 1, count)}) AS n`,
      );
  }
}

import { connectDatabase, createPool } from '@stream-events/database';
import { createLogger, Registry } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { schema } from '../src/events.database.js';
import { EventWriter } from '../src/store/event-writer.service.js';
import { DeadLettersRepository } from '../src/store/dead-letters.repository.js';
import { DeadLettersService } from '../src/dead-letters/dead-letters.service.js';
import { EventListRepository } from '../src/event-list/event-list.repository.js';
import type { OutboxBatch } from '../src/relay/outbox.repository.js';
import type { Relay } from '../src/relay/relay.service.js';
import { EventsRepository } from '../src/store/events.repository.js';
import { PartitionsRepository } from '../src/store/partitions.repository.js';

// A service gives up after 3 s. Tests wait longer, because other tests may slow them down.
const connectTimeoutMs = 30_000;

/** An event store in the test's own database. Collects the batches for the relay instead of publishing them. */
export class EventStore {
  readonly handedToRelay: OutboxBatch[] = [];
  readonly metrics = new Registry();
  readonly events: EventsRepository;
  readonly partitions: PartitionsRepository;
  readonly list: EventListRepository;
  readonly deadLetters: DeadLettersRepository;
  readonly writer: EventWriter;
  readonly deadLettersService: DeadLettersService;

  private constructor(
    private readonly database: TestDatabase,
    readonly dataSource: DataSource,
    private readonly writePool: Pool,
  ) {
    this.events = new EventsRepository(dataSource, writePool);
    this.partitions = new PartitionsRepository(dataSource);
    this.list = new EventListRepository(dataSource);
    const logger = createLogger('test', 'silent');
    this.deadLetters = new DeadLettersRepository(dataSource, logger);
    const relay: Pick<Relay, 'publish'> = { publish: (batch) => void this.handedToRelay.push(batch) };
    this.writer = new EventWriter(
      this.events,
      this.partitions,
      relay as Relay, // holds: the writer calls nothing but publish
      this.deadLetters,
      this.metrics,
    );
    this.deadLettersService = new DeadLettersService(this.deadLetters, this.writer, logger, this.metrics);
  }

  static async create(): Promise<EventStore> {
    const database = await createTestDatabase();
    const connection = {
      url: database.url,
      schema: schema.name,
      applicationName: 'events-test',
      poolSize: 20,
    };
    const { entities, migrations } = schema;
    const dataSource = await connectDatabase({ ...connection, entities, migrations });
    const { master } = dataSource.driver as unknown as { master: Pool }; // holds: the driver of type postgres keeps its pool there
    const writePool = createPool(connection);
    for (const { options } of [master, writePool]) options.connectionTimeoutMillis = connectTimeoutMs;
    return new EventStore(database, dataSource, writePool);
  }

  async close(): Promise<void> {
    await this.writePool.end();
    await this.dataSource.destroy();
    await this.database.drop();
  }

  /** Empties every table and forgets the stream. Partitions stay. */
  async clear(): Promise<void> {
    this.handedToRelay.length = 0;
    await this.dataSource.query(
      'TRUNCATE events, received_messages, outbox, published_batches, dead_letters',
    );
    await this.dataSource.query('UPDATE event_stream SET epoch = NULL, last_sequence = 0');
  }

  /** Returns the ids of all stored events, oldest first. */
  async storedIds(): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>('SELECT id FROM events ORDER BY id');
    return rows.map((row) => row.id);
  }

  async count(
    table: 'events' | 'received_messages' | 'outbox' | 'published_batches' | 'dead_letters',
  ): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM ${table}`,
    );
    return row?.count ?? 0;
  }

  /**
   * Fills the table quickly with events of this month, one per millisecond starting at `from`. `columns` are SQL expressions
   * of `n`, which counts from 1.
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
    await this.dataSource.query(
      `INSERT INTO events (${Object.keys(values).join(', ')})
       SELECT ${Object.values(values).join(', ')} FROM generate_series(1, ${count}) AS n`,
    );
  }
}

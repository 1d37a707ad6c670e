import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { firstIdAt, ingestStreamName, receivedAt, type StoredEvent } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { waitFor } from '../measure/progress.js';
import { runSql, type ServerAddresses } from '../system/servers.js';
import { markerOf } from './ledger.js';

// Time limit for recovery. If an instance dies with messages from the INGEST stream, NATS redelivers these messages to another
// instance only after 30 s.
export const recoveryLimitMs = 90_000;
// Pause between two reads of the backlog. Each read opens a connection.
const pollMs = 200;
// Each read goes back this far before the newest id, because events can be stored late. An id contains the time of arrival at the gateway;
// a paused nats-server delivers the event only when it resumes.
const maxLateMs = 10 * 60_000;

/** Reads new events from the store, and what is still waiting to be stored or published. */
export class StoreReader {
  private readonly knownIds = new Set<string>();
  private newest = 0;

  private constructor(
    private readonly databaseUrl: string,
    /** User that may read the INGEST stream. */
    private readonly ingestOperator: NatsConnection,
  ) {}

  static async connect(servers: ServerAddresses, databaseUrl: string): Promise<StoreReader> {
    const urls = servers.nats.urlFor('events').split(',');
    return new StoreReader(databaseUrl, await connectNats({ urls, name: 'store-reader' }));
  }

  close(): Promise<void> {
    return this.ingestOperator.close();
  }

  /**
   * Resolves when everything accepted before the call is stored and on the stream.
   *
   * @throws Error after the limit
   */
  async waitUntilPublished(): Promise<void> {
    let lastBatch: string | undefined;
    let last: unknown;
    const isPublished = async (): Promise<true | undefined> => {
      try {
        lastBatch ??=
          (await this.query<{ id: string | null }>('SELECT max(id) AS id FROM events.outbox'))[0]?.id ?? '0';
        const [row] = await this.query<{ outbox: number }>(
          `SELECT count(*)::int AS outbox FROM events.outbox WHERE id <= ${BigInt(lastBatch)}`,
        );
        const manager = await jetstreamManager(this.ingestOperator, { checkAPI: false, timeout: 2_000 });
        const { state } = await manager.streams.info(ingestStreamName);
        last = JSON.stringify({ ...row, ingest: state.messages });
        return row?.outbox === 0 && state.messages === 0 ? true : undefined;
      } catch (error) {
        last = error; // a server may still be down
        return undefined;
      }
    };
    if (!(await waitFor(isPublished, { limitMs: recoveryLimitMs, everyMs: pollMs })))
      throw new Error(`the backlog is not empty after ${recoveryLimitMs / 1_000} s: ${String(last)}`);
  }

  /** Events stored since the last call, in the order in which gateways received them. */
  async readNewEvents(): Promise<StoredEvent[]> {
    const rows = await this.query<StoredEvent>(
      `SELECT id, event_id AS "eventId", event_type AS "eventType", event_source AS "eventSource", origin,
         event_data::text AS "eventData" FROM events.events
       WHERE id >= '${firstIdAt(Math.max(0, this.newest - maxLateMs))}' ORDER BY id`,
    );
    const found = rows.filter(({ id }) => !this.knownIds.has(id));
    for (const { id } of found) {
      this.knownIds.add(id);
      this.newest = Math.max(this.newest, receivedAt(id));
    }
    return found;
  }

  /** Whether `readNewEvents` has already returned the event. */
  hasRead(id: string): boolean {
    return this.knownIds.has(id);
  }

  /** Markers of the events that became dead letters. */
  async readDeadLetters(): Promise<Set<string>> {
    const rows = await this.query<{ message: Buffer }>('SELECT message FROM events.dead_letters');
    const markers = rows.map(({ message }) => {
      const { eventData } = JSON.parse(message.toString()) as StoredEvent; // Safe cast: the message is a NewEvent as JSON
      return markerOf(eventData) ?? 'no marker';
    });
    return new Set(markers);
  }

  private query<Row extends object>(sql: string): Promise<Row[]> {
    return runSql<Row & Record<string, unknown>>(this.databaseUrl, sql);
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import {
  jetstream,
  jetstreamManager,
  DeliverPolicy,
  type Consumer,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  eventsStreamName,
  firstIdAt,
  ingestStreamName,
  receivedAt,
  type StoredEvent,
} from '@stream-events/contracts';
import { connectNats, type NatsOptions } from '@stream-events/messaging';
import { waitFor } from '../measure/progress.js';
import { runSql, type ServerAddresses } from '../system/servers.js';
import type { PublishedMessage } from './checker.js';
import { markerOf } from './ledger.js';

export interface Backlog {
  /** Outbox batches that the EVENTS stream has not acknowledged yet. */
  outbox: number;
  /** Messages on the INGEST stream that the events service has not stored yet. */
  ingest: number;
}

const openLimitMs = 30_000;
const openPauseMs = 500;
const fetchMs = 5_000;
// Limit for the consumers that one read opens.
const maxOpened = 5;

// Each read goes back this far before the newest id, because events can be stored late. An id contains the time of arrival at the gateway;
// a paused nats-server delivers the event only when it resumes.
const maxLateMs = 10 * 60_000;

/** Reads new events from the store, and new messages from the stream. */
export class StoreReader {
  private readonly knownIds = new Set<string>();
  private newest = 0;
  private lastSequence = 0;
  private streamCreated = '';

  private constructor(
    private readonly databaseUrl: string,
    /** User that may read the INGEST stream. */
    private readonly ingestOperator: NatsConnection,
    /** User that may read and delete the EVENTS stream. */
    private readonly eventsOperator: NatsConnection,
    /** User for a customer's own services. */
    private readonly subscriber: NatsConnection,
  ) {}

  static async connect(servers: ServerAddresses, databaseUrl: string): Promise<StoreReader> {
    const open = (user: string, account: Pick<NatsOptions, 'account'> = {}): Promise<NatsConnection> =>
      connectNats({ urls: servers.nats.urlFor(user).split(','), name: 'store-reader', ...account });
    return new StoreReader(
      databaseUrl,
      await open('events'),
      await open('events', { account: 'EVENTS' }),
      await open('subscriber'),
    );
  }

  async close(): Promise<void> {
    await this.ingestOperator.close();
    await this.eventsOperator.close();
    await this.subscriber.close();
  }

  /** Id of the newest outbox batch. */
  async readLastBatch(): Promise<string> {
    const [row] = await runSql<{ id: string | null }>(
      this.databaseUrl,
      'SELECT max(id) AS id FROM events.outbox',
    );
    return row?.id ?? '0';
  }

  /** Counts only outbox batches up to `lastBatch`. */
  async readBacklog(lastBatch?: string): Promise<Backlog> {
    const until = lastBatch === undefined ? '' : ` WHERE id <= ${BigInt(lastBatch)}`;
    const [row] = await runSql<{ count: number }>(
      this.databaseUrl,
      `SELECT count(*)::int AS count FROM events.outbox${until}`,
    );
    const { state } = await (await manage(this.ingestOperator)).streams.info(ingestStreamName);
    return { outbox: row?.count ?? 0, ingest: state.messages };
  }

  /** Events stored since the last call, in the order in which gateways received them. */
  async readNewEvents(): Promise<StoredEvent[]> {
    const rows = await runSql<StoredEvent>(
      this.databaseUrl,
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
    const rows = await runSql<{ message: Buffer }>(
      this.databaseUrl,
      'SELECT message FROM events.dead_letters',
    );
    const markers = rows.map(({ message }) => {
      const { eventData } = JSON.parse(message.toString()) as StoredEvent; // Safe cast: the message is a NewEvent as JSON
      return markerOf(eventData) ?? 'no marker';
    });
    return new Set(markers);
  }

  /** Messages published since the last call. If the stream was recreated, returns all its messages. */
  async readNewMessages(): Promise<PublishedMessage[]> {
    const { state, created } = await this.readStreamInfo();
    if (created !== this.streamCreated) this.lastSequence = 0;
    this.streamCreated = created;
    if (state.last_seq <= this.lastSequence || state.messages === 0) return [];
    const messages: PublishedMessage[] = [];
    let last: unknown;
    for (let opened = 0; opened < maxOpened && this.lastSequence < state.last_seq; opened += 1) {
      try {
        await this.readOn(state.last_seq, messages);
      } catch (error) {
        // Create another consumer if the server does not know the new one yet. A customer's service would do the same.
        last = error;
        await wait(openPauseMs);
      }
    }
    if (this.lastSequence < state.last_seq)
      throw new Error(
        `the stream has ${state.last_seq} messages, but delivers only ${this.lastSequence}: ${String(last)}`,
      );
    return messages;
  }

  /** Reads with a new consumer until no more messages arrive. */
  private async readOn(lastSequence: number, messages: PublishedMessage[]): Promise<void> {
    const consumer = await this.openConsumer(this.lastSequence + 1);
    for (let count = 1; count > 0 && this.lastSequence < lastSequence;) {
      count = 0;
      for await (const message of await consumer.fetch({ max_messages: 1_000, expires: fetchMs })) {
        messages.push({ id: message.headers?.get('Nats-Msg-Id') ?? '', text: message.string() });
        this.lastSequence = message.seq;
        count += 1;
        if (message.info.pending === 0) break;
      }
    }
  }

  /** Retries, as a customer's service would: after a fault, a cluster can need seconds to create a consumer. */
  private async openConsumer(from: number): Promise<Consumer> {
    let last: unknown;
    const open = async (): Promise<Consumer | undefined> => {
      try {
        return await jetstream(this.subscriber).consumers.get(eventsStreamName, {
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: from,
        });
      } catch (error) {
        last = error;
        return undefined;
      }
    };
    const consumer = await waitFor(open, { limitMs: openLimitMs, everyMs: openPauseMs });
    if (!consumer) throw last;
    return consumer;
  }

  async deleteEventsStream(): Promise<void> {
    await (await manage(this.eventsOperator)).streams.delete(eventsStreamName);
  }

  private async readStreamInfo(): Promise<StreamInfo> {
    return (await manage(this.eventsOperator)).streams.info(eventsStreamName);
  }
}

function manage(operator: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(operator, { checkAPI: false, timeout: 2_000 });
}

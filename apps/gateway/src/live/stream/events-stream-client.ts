import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type JetStreamManager,
  type JsMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { millis, nanos, nuid, type NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import {
  closeNats,
  connectNats,
  ConnectionWatch,
  type NatsOptions,
  isStreamNotFound,
} from '@stream-events/messaging';
import type { Tracing } from '@stream-events/service';
import { TracedDelivery } from './traced-delivery.js';

/** The state of the stream on the NATS server. */
export interface StreamState {
  /** Undefined until the events service has set an epoch. */
  epoch: string | undefined;
  /** Sequence of the oldest message. `lastSequence` + 1 if the stream is empty. */
  firstSequence: number;
  lastSequence: number;
}

/** A message of the stream. `data` points into the network buffer: copy it to keep it. */
export interface StreamMessage {
  sequence: number;
  /** Id of the event, a UUIDv7. Undefined if the message is not an event. */
  id: string | undefined;
  data: Uint8Array;
  /** The span of its delivery, if the message is part of a sampled trace. */
  delivery?: TracedDelivery | undefined;
}

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Converts a message that a consumer received. */
export function toStreamMessage(message: JsMsg, tracing?: Tracing): StreamMessage {
  const { info, headers, data } = message;
  const id = headers?.get('Nats-Msg-Id') ?? '';
  return {
    sequence: info.streamSequence,
    id: idPattern.test(id) ? id : undefined,
    data,
    ...(tracing && { delivery: TracedDelivery.start(tracing, message) }),
  };
}

/**
 * Maximum number of unread messages that NATS sends ahead to a reader. nats-server disconnects a client when 64 MiB are pending for it. The
 * live reader and four page readers share one connection: 100 + 4 × 32 messages of up to 256 KiB are at most 57 MiB.
 */
export const maxInFlight = { liveReader: 100, pageReader: 32 } as const;

// How long to wait for a response. NATS responds within milliseconds, or within seconds while a cluster elects a leader.
const requestLimitMs = 2_000;
// NATS deletes a consumer that is unused for this long, for example because the gateway crashed.
const consumerLifeMs = 30_000;

/** Reads the state of the EVENTS stream, and creates consumers for live delivery. The events service owns the stream. */
export class EventsStreamClient {
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  private readonly lossListeners = new Set<() => void>();

  constructor(private readonly options: NatsOptions) {}

  /** Continues the traces that messages carry. Undefined when tracing is off. */
  get tracing(): Tracing | undefined {
    return this.options.tracing;
  }

  /** False while NATS is unavailable. Check it before a request: the NATS client keeps requests in memory while it is disconnected. */
  get isConnected(): boolean {
    return this.watch?.isConnected ?? false;
  }

  /** Connects to NATS. The service does not start without this connection. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    this.watch = new ConnectionWatch(this.connection, {
      onLost: () => {
        for (const listener of this.lossListeners) listener();
      },
    });
  }

  async close(): Promise<void> {
    if (this.connection) await closeNats(this.connection);
  }

  /** Calls the listener whenever the connection is lost. Returns a function that removes the listener. */
  onDisconnected(listener: () => void): () => void {
    this.lossListeners.add(listener);
    return () => this.lossListeners.delete(listener);
  }

  /**
   * Reads the state of the stream. Undefined if the stream does not exist.
   *
   * @throws if NATS does not respond
   */
  async find(): Promise<StreamState | undefined> {
    const info = await this.readInfo();
    if (!info) return undefined;
    const { first_seq, last_seq } = info.state;
    const description = parseStreamDescription(info.config.description ?? '');
    // A stream that has never had a message reports 0 as its first sequence.
    return { epoch: description?.epoch, firstSequence: Math.max(first_seq, 1), lastSequence: last_seq };
  }

  /**
   * Reads the limits of the stream. Without a limit, `maxBytes` is 0 or less. Undefined if the stream does not exist.
   *
   * @throws if NATS does not respond
   */
  async findLimits(): Promise<{ maxBytes: number; maxAgeMs: number } | undefined> {
    const info = await this.readInfo();
    return info && { maxBytes: info.config.max_bytes, maxAgeMs: millis(info.config.max_age) };
  }

  /**
   * Creates a consumer that starts at a sequence. The consumer needs no acknowledgments, and disappears when NATS restarts.
   *
   * @throws if the stream does not exist, or NATS does not respond
   */
  async addConsumer(from: number): Promise<Consumer> {
    const { consumers } = await this.manage();
    const info = await consumers.add(eventsStreamName, {
      // Random, because the subjects of requests to the consumer contain its name: other NATS users must not be able to guess them.
      name: `live-${nuid.next()}`,
      description: `live delivery: ${this.options.name}`,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(consumerLifeMs),
      mem_storage: true,
      num_replicas: 1,
    });
    return jetstream(this.reach(), { timeout: requestLimitMs }).consumers.getConsumerFromInfo(info);
  }

  /** Deletes a consumer. If the deletion fails, the consumer expires after 30 s. */
  async deleteConsumer(consumer: Consumer): Promise<void> {
    if (this.isConnected) await consumer.delete().catch(() => false);
  }

  private async readInfo(): Promise<StreamInfo | undefined> {
    const { streams } = await this.manage();
    try {
      return await streams.info(eventsStreamName);
    } catch (error) {
      if (isStreamNotFound(error)) return undefined;
      throw error;
    }
  }

  private async manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.reach(), { checkAPI: false, timeout: requestLimitMs });
  }

  private reach(): NatsConnection {
    if (!this.connection || !this.isConnected) throw new Error('NATS is unavailable');
    return this.connection;
  }
}

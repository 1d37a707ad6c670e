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
import { nanos, nuid, type NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import {
  closeNats,
  connectNats,
  ConnectionWatch,
  type NatsOptions,
  isStreamNotFound,
} from '@stream-events/messaging';

/** What the broker says of the stream. */
export interface StreamState {
  /** Undefined: the events service has not given it one (yet). */
  epoch: string | undefined;
  /** Of the oldest message; one more than the last when there is none. */
  firstSequence: number;
  lastSequence: number;
}

/** A message of the stream. Its data is part of the network's buffer: whoever keeps it copies it. */
export interface StreamMessage {
  sequence: number;
  /** The event's, a UUIDv7; undefined for what is no event. */
  id: string | undefined;
  data: Uint8Array;
}

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** What a consumer of the stream has got. */
export function toStreamMessage({ info, headers, data }: JsMsg): StreamMessage {
  const id = headers?.get('Nats-Msg-Id') ?? '';
  return { sequence: info.streamSequence, id: idPattern.test(id) ? id : undefined, data };
}

// A broker that works answers within milliseconds, one of a cluster that elects a leader within seconds.
const requestLimitMs = 2_000;
// A consumer that a crash leaves behind is gone after this time.
const consumerLifeMs = 30_000;

/** The EVENTS stream, as live delivery reads it. */
export class EventsStreamClient {
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  private readonly lossListeners = new Set<() => void>();

  constructor(private readonly options: NatsOptions) {}

  /** False while the broker is away: what is asked then would wait in memory. */
  get isConnected(): boolean {
    return this.watch?.isConnected ?? false;
  }

  /** Connects; the service does not start without. */
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

  /** Calls back whenever the connection is lost; the answer ends that. */
  onDisconnected(listener: () => void): () => void {
    this.lossListeners.add(listener);
    return () => this.lossListeners.delete(listener);
  }

  /**
   * The state of the stream; undefined when there is none.
   *
   * @throws when the broker does not answer
   */
  async find(): Promise<StreamState | undefined> {
    const info = await this.readInfo();
    if (!info) return undefined;
    const { first_seq, last_seq } = info.state;
    const description = parseStreamDescription(info.config.description ?? '');
    // A stream that never had a message says that the first one is 0.
    return { epoch: description?.epoch, firstSequence: Math.max(first_seq, 1), lastSequence: last_seq };
  }

  /**
   * Makes a consumer that begins at a sequence; it needs no acknowledgements, and is gone when the broker restarts.
   *
   * @throws when there is no stream, or the broker does not answer
   */
  async addConsumer(from: number): Promise<Consumer> {
    const { consumers } = await this.manage();
    const info = await consumers.add(eventsStreamName, {
      // In the subject of the request, by which the broker permits it; random, so that no subscriber can find it.
      name: `live-${nuid.next()}`,
      description: `reads for live clients: ${this.options.name}`,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(consumerLifeMs),
      mem_storage: true,
      num_replicas: 1,
    });
    return jetstream(this.reach(), { timeout: requestLimitMs }).consumers.getConsumerFromInfo(info);
  }

  /** Deletes a consumer that is of no use any more. One that cannot be deleted now soon ends by itself. */
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
    if (!this.connection || !this.isConnected) throw new Error('NATS is away');
    return this.connection;
  }
}

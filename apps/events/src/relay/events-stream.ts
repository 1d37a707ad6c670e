import {
  eventsStreamName,
  eventsStreamSubjects,
  parseStreamDescription,
  printStreamDescription,
} from '@stream-events/contracts';
import {
  DiscardPolicy,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { ConnectionWatch, isStreamNotFound, type ConnectionListeners } from '@stream-events/messaging';
import { nanos, type NatsConnection } from '@nats-io/transport-node';

/** The bounds of the EVENTS stream, and which platform its events come from. */
export interface EventsStreamOptions {
  platform: string;
  maxAgeDays: number;
  maxGigabytes: number;
}

/** What the broker says of the stream. */
export interface StreamState {
  /** Undefined: made by a version that had no epochs, or by hand. */
  epoch: string | undefined;
  lastSequence: number;
  /** When the last message came, in milliseconds since 1970; undefined when there never was one. */
  lastMessageAt: number | undefined;
}

/** The stream of this name carries the events of another platform, or something else altogether. */
export class ForeignStreamError extends Error {}

// Each remembered id costs the broker about 300 bytes of memory; a relay that crashed is back well within this time.
const deduplicationWindowMs = 120_000;

const dayMs = 24 * 3_600_000;

/** The EVENTS stream at the broker. */
export class EventsStream {
  private constructor(
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly options: EventsStreamOptions,
  ) {}

  /** @throws when the broker has no JetStream */
  static async open(connection: NatsConnection, options: EventsStreamOptions): Promise<EventsStream> {
    return new EventsStream(connection, await jetstreamManager(connection), options);
  }

  /** How long a message stays on the stream. */
  get maxAgeMs(): number {
    return this.options.maxAgeDays * dayMs;
  }

  /**
   * The state of the stream; undefined when there is none.
   *
   * @throws ForeignStreamError
   */
  async find(): Promise<StreamState | undefined> {
    const info = await this.readInfo();
    if (!info) return undefined;
    const text = info.config.description ?? '';
    const description = parseStreamDescription(text);
    if (description?.platform !== this.options.platform) {
      throw new ForeignStreamError(
        `the stream ${eventsStreamName} on this NATS says "${text}", but PLATFORM is ${this.options.platform}: ` +
          'events of two platforms never mix. Use another NATS (or account) for this platform.',
      );
    }
    // A stream that never had a message says that the last one came in the year 1.
    const lastMessageAt = Date.parse(info.state.last_ts);
    return {
      epoch: description.epoch,
      lastSequence: info.state.last_seq,
      lastMessageAt: lastMessageAt > 0 ? lastMessageAt : undefined,
    };
  }

  /** @throws when there is one, or the broker has no room for it */
  async create(epoch: string): Promise<void> {
    await this.manager.streams.add({
      ...this.config(epoch),
      name: eventsStreamName,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      duplicate_window: nanos(deduplicationWindowMs),
    });
  }

  /** Deletes the stream with everything on it, if it is still that of this epoch. */
  async delete(epoch: string): Promise<void> {
    if ((await this.find())?.epoch === epoch) await this.manager.streams.delete(eventsStreamName);
  }

  /** Writes the epoch into the stream, and brings its subjects and bounds up to date. */
  async update(epoch: string): Promise<void> {
    const { config } = await this.manager.streams.info(eventsStreamName);
    await this.manager.streams.update(eventsStreamName, { ...config, ...this.config(epoch) });
  }

  /** The `Nats-Msg-Id` of the message that has this sequence; undefined when there is none (any more). */
  async readMessageId(sequence: number): Promise<string | undefined> {
    const message = await this.manager.streams.getMessage(eventsStreamName, { seq: sequence });
    return message?.header.get('Nats-Msg-Id');
  }

  /** Watches the connection that the stream is reached on. */
  watchConnection(listeners: ConnectionListeners): ConnectionWatch {
    return new ConnectionWatch(this.connection, listeners);
  }

  private async readInfo(): Promise<StreamInfo | undefined> {
    try {
      return await this.manager.streams.info(eventsStreamName);
    } catch (error) {
      if (isStreamNotFound(error)) return undefined;
      throw error;
    }
  }

  private config(epoch: string) {
    return {
      description: printStreamDescription({ platform: this.options.platform, epoch }),
      subjects: [eventsStreamSubjects],
      max_age: nanos(this.maxAgeMs),
      max_bytes: this.options.maxGigabytes * 1024 ** 3,
    };
  }
}

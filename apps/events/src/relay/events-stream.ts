import {
  eventsStreamName,
  eventsStreamSubjects,
  parseStreamDescription,
  printStreamDescription,
} from '@stream-events/contracts';
import {
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import {
  confirmNoMessages,
  ConnectionWatch,
  isStreamNotFound,
  LaggingServerError,
  openJetStream,
  placeStream,
  type ConnectionListeners,
  type SequenceRange,
} from '@stream-events/messaging';
import { nanos, type NatsConnection } from '@nats-io/transport-node';

/** The retention of the EVENTS stream, and the platform whose events it carries. */
export interface EventsStreamOptions {
  platform: string;
  /** The maximum age of a message in milliseconds, counted from the time when it was published. */
  maxAgeMs: number;
  maxGigabytes: number;
  /**
   * The number of servers in the cluster that store the stream. If undefined, one server stores a new stream, and an existing stream keeps
   * its number of servers.
   */
  replicas?: number | undefined;
  /** The time that the broker may take to remove the files of a deleted stream, in milliseconds. Default: 2,000. */
  deletionMs?: number;
}

/** The state of the stream at the broker. */
export interface StreamState {
  /** Undefined when the stream was created by hand, or by a version without epochs. */
  epoch: string | undefined;
  lastSequence: number;
  /** When the last message arrived, in milliseconds since 1970; undefined when there has been none. */
  lastMessageAt: number | undefined;
  /**
   * `in touch` when the leader and the replicas that it has heard from in the last 3 s are a majority; `none` when only one server stores
   * the stream. A leader that is out of touch may have been replaced without its knowledge, and its report of the state may be outdated. A
   * leader that is in touch notices its replacement within a few seconds.
   */
  replicas: 'none' | 'in touch' | 'out of touch';
}

/**
 * The state of the stream may be outdated, because the stream has no leader, or a leader that may have been replaced. Publish nothing until
 * a later check succeeds.
 */
export class DoubtfulStateError extends Error {}

/** The stream with this name carries the events of another platform, or is not an events stream. */
export class ForeignStreamError extends Error {}

// A crashed relay restarts well within this time. A longer window needs more memory: about 300 bytes per id in the broker.
const deduplicationWindowMs = 120_000;

// How long to wait after a deletion: longer than the broker takes to remove the files of a stream of several gigabytes.
const defaultDeletionMs = 2_000;

// A replica counts as in touch if the leader has heard from it within this time. A leader contacts its replicas every one or two seconds.
// Replicas that do not hear from the leader usually elect another leader after 4 s or more.
const maxSilenceMs = 3_000;

// How long a consumer exists after its only fetch, and how long the fetch may take.
const consumerLifetimeMs = 10_000;
const fetchLimitMs = 5_000;

/** The EVENTS stream at the broker. */
export class EventsStream {
  private constructor(
    readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly options: EventsStreamOptions,
  ) {}

  /** @throws when the broker has no JetStream, or its cluster has no leader for 30 s */
  static async open(connection: NatsConnection, options: EventsStreamOptions): Promise<EventsStream> {
    return new EventsStream(connection, await openJetStream(connection), options);
  }

  /** The maximum age of a message on the stream, in milliseconds. */
  get maxAgeMs(): number {
    return this.options.maxAgeMs;
  }

  /** How long the broker may take to remove the files of a deleted stream, in milliseconds. */
  get deletionMs(): number {
    return this.options.deletionMs ?? defaultDeletionMs;
  }

  /**
   * Returns the state of the stream, or undefined when there is none.
   *
   * @throws ForeignStreamError
   * @throws DoubtfulStateError when the stream has no leader
   * @throws when the broker does not respond
   */
  async find(): Promise<StreamState | undefined> {
    const info = await this.readInfo();
    if (!info) return undefined;
    const text = info.config.description ?? '';
    const description = parseStreamDescription(text);
    if (description?.platform !== this.options.platform) {
      throw new ForeignStreamError(
        `the stream ${eventsStreamName} on this NATS server has the description "${text}", but PLATFORM is ${this.options.platform}. ` +
          'Events of two platforms must not mix: use another NATS server (or account) for this platform.',
      );
    }
    // Without a leader, any server with a replica responds, and its state may be outdated.
    if (info.config.num_replicas > 1 && !info.cluster?.leader)
      throw new DoubtfulStateError(`the stream ${eventsStreamName} has no leader`);
    // An empty stream that never had a message reports the year 1 as the time of its last message.
    const lastMessageAt = Date.parse(info.state.last_ts);
    return {
      epoch: description.epoch,
      lastSequence: info.state.last_seq,
      lastMessageAt: lastMessageAt > 0 ? lastMessageAt : undefined,
      replicas: judgeReplicas(info),
    };
  }

  /** Returns the size of the stream on disk; undefined when there is no stream. */
  async measureBytes(): Promise<number | undefined> {
    return (await this.readInfo())?.state.bytes;
  }

  /**
   * Creates the stream.
   *
   * @throws when the stream exists, the broker has no disk space for the stream, or the cluster has too few servers for its replicas
   */
  async create(epoch: string): Promise<void> {
    const config = {
      ...this.config(epoch),
      name: eventsStreamName,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      duplicate_window: nanos(deduplicationWindowMs),
    };
    await placeStream(config.num_replicas ?? 1, () => this.manager.streams.add(config));
  }

  /** Deletes the stream with all its messages, if it still has this epoch. */
  async delete(epoch: string): Promise<void> {
    if ((await this.find())?.epoch === epoch) await this.manager.streams.delete(eventsStreamName);
  }

  /** Sets the epoch of the stream, and brings its subjects, retention, and replicas up to date. */
  async update(epoch: string): Promise<void> {
    const { config } = await this.manager.streams.info(eventsStreamName);
    const updated = { ...config, ...this.config(epoch) };
    await placeStream(updated.num_replicas, () => this.manager.streams.update(eventsStreamName, updated));
  }

  /** Returns the `Nats-Msg-Id` of the message with this sequence, or undefined when the stream has no such message. */
  async readMessageId(sequence: number): Promise<string | undefined> {
    const message = await this.manager.streams.getMessage(eventsStreamName, { seq: sequence });
    return message?.header.get('Nats-Msg-Id');
  }

  /**
   * Reads the ids of the events on the stream in order, starting at a sequence, without their data. Returns at most `limit`; an empty list
   * means that the stream has no message from there up to the sequence `until`. The id is empty for a message that this service did not
   * publish.
   *
   * @throws LaggingServerError when a server whose copy of the stream lacks messages has answered
   */
  async readMessageIds(
    { from, until }: SequenceRange,
    limit: number,
  ): Promise<{ sequence: number; eventId: string }[]> {
    const consumer = await jetstream(this.connection).consumers.get(eventsStreamName, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      headers_only: true,
      inactive_threshold: consumerLifetimeMs,
    });
    const messages: { sequence: number; eventId: string }[] = [];
    for await (const { seq, headers, info } of await consumer.fetch({
      max_messages: limit,
      expires: fetchLimitMs,
    })) {
      // A message before `from` shows that the server's copy ends before `from`: the consumer then delivers from the end of the copy on.
      if (seq < from) throw new LaggingServerError(eventsStreamName, from);
      messages.push({ sequence: seq, eventId: headers?.get('Nats-Msg-Id') ?? '' });
      if (info.pending === 0) break;
    }
    if (messages.length === 0) await confirmNoMessages(this.manager, eventsStreamName, { from, until });
    return messages;
  }

  /**
   * Deletes the message with this sequence. Does nothing if another instance has already deleted the message or the message has expired.
   */
  async deleteMessage(sequence: number): Promise<void> {
    try {
      await this.manager.streams.deleteMessage(eventsStreamName, sequence, false);
    } catch (error) {
      // The broker has no error code for a missing message.
      if ((await this.readMessageId(sequence)) !== undefined) throw error;
    }
  }

  /** Watches the connection to NATS. */
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

  /** The configuration that `update` may change. */
  private config(epoch: string) {
    const { replicas } = this.options;
    return {
      description: printStreamDescription({ platform: this.options.platform, epoch }),
      subjects: [eventsStreamSubjects],
      max_age: nanos(this.maxAgeMs),
      max_bytes: this.options.maxGigabytes * 1024 ** 3,
      ...(replicas !== undefined && { num_replicas: replicas }),
    };
  }
}

/** Returns whether the leader that sent this state is in touch with its replicas. */
function judgeReplicas({ cluster, config }: StreamInfo): StreamState['replicas'] {
  if (config.num_replicas === 1) return 'none';
  const replicas = cluster?.replicas ?? [];
  // A replica that the leader has never heard from has the time 0.
  const heard = replicas.filter(
    ({ active, offline }) => !offline && active > 0 && active < nanos(maxSilenceMs),
  );
  return 1 + heard.length > (1 + replicas.length) / 2 ? 'in touch' : 'out of touch';
}

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
  /** How long a message stays on the stream after it is published, in milliseconds. */
  maxAgeMs: number;
  maxGigabytes: number;
  /**
   * How many servers of the cluster hold a copy of the stream. If undefined, a new stream gets one copy, and an existing stream keeps its
   * number.
   */
  replicas?: number | undefined;
}

/** The stream's state as the broker reports it. */
export interface StreamState {
  /** Undefined when the stream was created by hand, or by a version without epochs. */
  epoch: string | undefined;
  lastSequence: number;
  /** When the last message arrived, in milliseconds since 1970; undefined when the stream never had one. */
  lastMessageAt: number | undefined;
  /**
   * `in touch` when the leader and the replicas it heard from in the last 3 s are a majority; `none` when the stream has one copy. A leader
   * that is out of touch may have been replaced without knowing, and its report may be outdated. A leader that is in touch notices its
   * replacement within a few seconds.
   */
  replicas: 'none' | 'in touch' | 'out of touch';
}

/**
 * The reported state may be outdated: the stream has no leader, or its leader may have been replaced. Publish nothing until a later check
 * succeeds.
 */
export class DoubtfulStateError extends Error {}

/** The stream named EVENTS belongs to another platform, or is not an events stream. */
export class ForeignStreamError extends Error {}

// How long the broker drops repeated ids: far longer than a crashed relay takes to restart. A longer window would cost the broker about 300
// bytes per id.
const deduplicationWindowMs = 120_000;

// A replica counts as in touch if the leader heard from it within this time. A leader contacts its replicas every one or two seconds.
// Replicas that do not hear from the leader elect another one, usually after 4 s or more.
const maxSilenceMs = 3_000;

// How long the broker keeps a consumer after its only fetch.
const consumerLifetimeMs = 10_000;
const fetchLimitMs = 5_000;

export class EventsStream {
  private constructor(
    readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly options: EventsStreamOptions,
  ) {}

  /** @throws when the broker has no JetStream, or when its cluster stays without a leader for 30 s */
  static async open(connection: NatsConnection, options: EventsStreamOptions): Promise<EventsStream> {
    return new EventsStream(connection, await openJetStream(connection), options);
  }

  get maxAgeMs(): number {
    return this.options.maxAgeMs;
  }

  /**
   * Returns undefined when the stream does not exist.
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
    // Without a leader, any replica may answer, with a state that may be outdated.
    if (info.config.num_replicas > 1 && !info.cluster?.leader)
      throw new DoubtfulStateError(`the stream ${eventsStreamName} has no leader`);
    // A stream that never had a message reports the year 1 as the time of its last message.
    const lastMessageAt = Date.parse(info.state.last_ts);
    return {
      epoch: description.epoch,
      lastSequence: info.state.last_seq,
      lastMessageAt: lastMessageAt > 0 ? lastMessageAt : undefined,
      replicas: judgeReplicas(info),
    };
  }

  /** Returns the stream's size on disk; undefined when the stream does not exist. */
  async measureBytes(): Promise<number | undefined> {
    return (await this.readInfo())?.state.bytes;
  }

  /**
   * @throws when the stream exists with another configuration, the broker lacks the disk space, or the cluster has too few servers for the
   * replicas
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

  /** Sets the stream's epoch, and updates its subjects, retention, and replicas. */
  async update(epoch: string): Promise<void> {
    const { config } = await this.manager.streams.info(eventsStreamName);
    const updated = { ...config, ...this.config(epoch) };
    await placeStream(updated.num_replicas, () => this.manager.streams.update(eventsStreamName, updated));
  }

  /** Returns the `Nats-Msg-Id` of the message at this sequence; undefined when there is no such message. */
  async readMessageId(sequence: number): Promise<string | undefined> {
    const message = await this.manager.streams.getMessage(eventsStreamName, { seq: sequence });
    return message?.header.get('Nats-Msg-Id');
  }

  /**
   * Reads event ids in stream order, starting at `from`, without the events' data. Returns at most `limit` ids; an empty list means that
   * the stream has no messages from `from` up to `until`. A message that this service did not publish has an empty id.
   *
   * @throws LaggingServerError when the answering server's copy of the stream lacks messages
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
      // A message before `from` shows that this server's copy of the stream ends before `from`: the consumer started at the end of the
      // copy.
      if (seq < from) throw new LaggingServerError(eventsStreamName, from);
      messages.push({ sequence: seq, eventId: headers?.get('Nats-Msg-Id') ?? '' });
      if (info.pending === 0) break;
    }
    if (messages.length === 0) await confirmNoMessages(this.manager, eventsStreamName, { from, until });
    return messages;
  }

  /** Does nothing when the message is already gone: deleted by another instance, or expired. */
  async deleteMessage(sequence: number): Promise<void> {
    try {
      await this.manager.streams.deleteMessage(eventsStreamName, sequence, false);
    } catch (error) {
      // The broker has no error code for a missing message, so check whether the message exists.
      if ((await this.readMessageId(sequence)) !== undefined) throw error;
    }
  }

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

  /** The part of the configuration that `update` sets. */
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

function judgeReplicas({ cluster, config }: StreamInfo): StreamState['replicas'] {
  if (config.num_replicas === 1) return 'none';
  const replicas = cluster?.replicas ?? [];
  // `active` is 0 when the leader never heard from the replica.
  const heard = replicas.filter(
    ({ active, offline }) => !offline && active > 0 && active < nanos(maxSilenceMs),
  );
  return 1 + heard.length > (1 + replicas.length) / 2 ? 'in touch' : 'out of touch';
}

import {
  DiscardPolicy,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamAPI,
  type StreamConfig,
  type StreamState,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { ingestStreamName, ingestSubject } from '@stream-events/contracts';
import { placeStream } from '@stream-events/messaging';

/** The size of the INGEST stream, and the platform whose messages it holds. */
export interface IngestStreamOptions {
  platform: string;
  maxGigabytes: number;
  /**
   * How many servers of the cluster hold a copy of the stream. If undefined, a new stream gets one copy, and an existing stream keeps its
   * number.
   */
  replicas?: number | undefined;
  /** Settings of the draining consumer that differ from the defaults. */
  consumerConfig?: Partial<ConsumerConfig>;
}

// The broker's error code when a stream of this name exists with another configuration. Adding an identical stream succeeds.
const streamNameInUse = 10058;

// Long enough for the platform's first redeliveries, which follow within a minute. The store recognizes later redeliveries by their key.
const deduplicationWindowMs = 120_000;

// What `prepare` also sets in an existing stream. Purging is denied because the broker sends the acknowledgement of a message wherever the
// publisher wants, even to the subject that purges the stream. No part of the service purges INGEST.
const fixedConfig = { subjects: [ingestSubject], deny_purge: true };

/** Creates and configures the INGEST stream, whose messages `IngestDrain` stores in the database. */
export class IngestStream {
  constructor(
    readonly connection: NatsConnection,
    private readonly options: IngestStreamOptions,
  ) {}

  get consumerConfig(): Partial<ConsumerConfig> {
    return this.options.consumerConfig ?? {};
  }

  /**
   * Creates the stream or updates its configuration.
   *
   * @throws when the stream holds the messages of another platform, or the broker has no disk space for the stream or too few servers for
   * its replicas
   */
  async prepare(): Promise<void> {
    const { streams } = await manageStreams(this.connection);
    const config = streamConfig(this.options);
    const existing = await addStream(streams, config);
    if (!existing) return;
    expectPlatform(existing, config.description, this.options.platform);
    // Never lower the limit while the stream has messages: the broker would drop accepted messages to get below it.
    const { state } = await streams.info(ingestStreamName);
    const max_bytes = Math.max(config.max_bytes, state.messages > 0 ? existing.max_bytes : 0);
    const num_replicas = this.options.replicas ?? existing.num_replicas;
    await placeStream(num_replicas, () =>
      streams.update(ingestStreamName, { ...existing, ...fixedConfig, max_bytes, num_replicas }),
    );
  }

  /** Counts the messages that are not stored yet, including those in progress. @throws when the broker does not respond */
  async count(): Promise<number> {
    return (await this.readState()).messages;
  }

  /** @throws when the broker does not respond */
  async measureBytes(): Promise<number> {
    return (await this.readState()).bytes;
  }

  private async readState(): Promise<StreamState> {
    const { streams } = await manageStreams(this.connection);
    return (await streams.info(ingestStreamName)).state;
  }
}

/** Requests time out after 2 s. */
function manageStreams(connection: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(connection, { checkAPI: false, timeout: 2_000 });
}

/**
 * Checks that the stream holds messages of the configured platform, which its description names.
 *
 * @throws when the description differs
 */
function expectPlatform({ description = '' }: StreamConfig, expected: string, platform: string): void {
  if (description === expected) return;
  throw new Error(
    `the stream ${ingestStreamName} on this NATS server has the description "${description}", but PLATFORM is ${platform}. ` +
      'Messages of two platforms must not mix: use another NATS server (or account) for this platform.',
  );
}

/** Returns the configuration of the existing stream if one exists with another configuration. */
async function addStream(
  streams: StreamAPI,
  config: ReturnType<typeof streamConfig>,
): Promise<StreamConfig | undefined> {
  try {
    await placeStream(config.num_replicas, () => streams.add(config));
    return undefined;
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== streamNameInUse) throw error;
    return (await streams.info(ingestStreamName)).config;
  }
}

function streamConfig({ platform, maxGigabytes, replicas = 1 }: IngestStreamOptions) {
  return {
    name: ingestStreamName,
    description: `ingest of platform ${platform}`,
    ...fixedConfig,
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    // A full stream rejects new messages. The gateway then responds with 503, and the platform keeps the message.
    discard: DiscardPolicy.New,
    max_bytes: maxGigabytes * 1024 ** 3,
    duplicate_window: nanos(deduplicationWindowMs),
    num_replicas: replicas,
  } satisfies Partial<StreamConfig>;
}

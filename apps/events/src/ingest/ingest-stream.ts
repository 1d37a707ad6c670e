import {
  AckPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type Consumer,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  type StreamAPI,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { ingestStreamName, ingestSubject } from '@stream-events/contracts';

/** The bound of the INGEST stream, and which platform its messages come from. */
export interface IngestStreamOptions {
  platform: string;
  maxGigabytes: number;
}

// The broker's code for a stream of this name with another configuration; with the same one, adding does nothing.
const streamNameInUse = 10058;

const consumerName = 'drain';

// A redelivery by the platform comes after seconds; later ones are known by their key in the store.
const deduplicationWindowMs = 120_000;
// A batch is stored within milliseconds, or given up after 12 s (the time limit of a query).
const acknowledgeWithinMs = 30_000;
// Twenty instances with a full batch each.
const maxUnacknowledged = 2_000;
// A message of 1 MiB, the most that the broker takes, always fits, or it would stand in the way for ever.
const maxFetchBytes = 2 * 1024 ** 2;
// The client's own bound where bytes are bounded.
const maxFetchMessages = 100;
// How long a batch that is not full waits for more: the shortest that the client permits.
const gatherMs = 1_000;
const requestLimitMs = 2_000;

/** The INGEST stream as the events service sees it: what is read here was promised to the platform. */
export class IngestStream {
  private consumer: Consumer | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly options: IngestStreamOptions,
  ) {}

  /**
   * Makes the stream and the consumer that all instances share, or brings the stream's bound up to date.
   *
   * @throws when the stream holds the messages of another platform, or the broker has no room for it
   */
  async ensure(): Promise<Consumer> {
    const manager = await this.manage();
    await ensureStream(manager, this.options);
    await manager.consumers.add(ingestStreamName, {
      durable_name: consumerName,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(acknowledgeWithinMs),
      max_ack_pending: maxUnacknowledged,
    });
    return jetstream(this.connection).consumers.get(ingestStreamName, consumerName);
  }

  /**
   * The messages that wait, so many as make a batch; none when none came within a second, or when it is interrupted. A
   * stream that was lost is made again.
   *
   * @throws when the broker cannot be asked
   */
  async fetch(interruption: AbortSignal): Promise<JsMsg[]> {
    const messages: JsMsg[] = [];
    try {
      this.consumer ??= await this.ensure();
      await gather(this.consumer, messages, interruption);
      if (messages.length === 0) await this.deliverForgotten();
    } catch (error) {
      // For the client, the end of the bytes is an error; whatever else it was, the next fetch says so.
      if (messages.length > 0) return messages;
      this.consumer = undefined;
      throw error;
    }
    return messages;
  }

  /** How many messages wait, also those that are being stored. */
  async count(): Promise<number> {
    const { streams } = await this.manage();
    return (await streams.info(ingestStreamName)).state.messages;
  }

  /**
   * Has messages delivered again that the stream still holds although they were acknowledged: nats-server 2.9 writes down
   * late what was taken off a work queue, so that a crash brings it back, and no consumer ever gets it. A new consumer gets
   * everything that is there; what was stored is known by its key.
   */
  private async deliverForgotten(): Promise<void> {
    if ((await this.count()) === 0) return;
    const { consumers, streams } = await this.manage();
    // In this order: up to here everything was acknowledged before the stream is looked at.
    const { ack_floor } = await consumers.info(ingestStreamName, consumerName);
    const { state } = await streams.info(ingestStreamName);
    if (state.messages === 0 || state.first_seq > ack_floor.stream_seq) return;
    await consumers.delete(ingestStreamName, consumerName);
    this.consumer = undefined;
  }

  private manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestLimitMs });
  }
}

/** Puts what comes into `messages`, until they are a batch, a second is over, or it is interrupted. */
async function gather(consumer: Consumer, messages: JsMsg[], interruption: AbortSignal): Promise<void> {
  const fetching = await consumer.fetch({ max_bytes: maxFetchBytes, expires: gatherMs });
  const stop = (): void => fetching.stop();
  interruption.addEventListener('abort', stop);
  if (interruption.aborted) stop();
  try {
    for await (const message of fetching) if (messages.push(message) === maxFetchMessages) break;
  } finally {
    interruption.removeEventListener('abort', stop);
  }
}

async function ensureStream({ streams }: JetStreamManager, options: IngestStreamOptions): Promise<void> {
  const config = streamConfig(options);
  const existing = await addStream(streams, config);
  if (!existing) return;
  if (existing.description !== config.description) {
    throw new Error(
      `the stream ${ingestStreamName} on this NATS says "${existing.description ?? ''}", but PLATFORM is ${options.platform}: ` +
        'messages of two platforms never mix. Use another NATS (or account) for this platform.',
    );
  }
  // A bound below what it holds would make the broker drop messages that were accepted.
  const { state } = await streams.info(ingestStreamName);
  const max_bytes = Math.max(config.max_bytes, state.messages > 0 ? existing.max_bytes : 0);
  await streams.update(ingestStreamName, { ...existing, subjects: config.subjects, max_bytes });
}

/** Adds the stream; gives back the one that is there already, also when another instance adds it at this moment. */
async function addStream(
  streams: StreamAPI,
  config: ReturnType<typeof streamConfig>,
): Promise<StreamConfig | undefined> {
  try {
    await streams.add(config);
    return undefined;
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== streamNameInUse) throw error;
    return (await streams.info(ingestStreamName)).config;
  }
}

function streamConfig({ platform, maxGigabytes }: IngestStreamOptions) {
  return {
    name: ingestStreamName,
    description: `ingest of platform ${platform}`,
    subjects: [ingestSubject],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    // Full is full: the gateway then refuses, and the platform keeps the message.
    discard: DiscardPolicy.New,
    max_bytes: maxGigabytes * 1024 ** 3,
    duplicate_window: nanos(deduplicationWindowMs),
  } satisfies Partial<StreamConfig>;
}

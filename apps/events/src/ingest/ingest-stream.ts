import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamAPI,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { ingestStreamName, ingestSubject } from '@stream-events/contracts';
import { WorkQueue } from './work-queue.js';

/** The size of the INGEST stream, and the platform whose messages it holds. */
export interface IngestStreamOptions {
  platform: string;
  maxGigabytes: number;
}

// The broker's code for a stream of this name with another configuration. Adding an identical stream succeeds.
const streamNameInUse = 10058;

// The platform redelivers a message within seconds. The store recognizes later redeliveries by their key.
const deduplicationWindowMs = 120_000;

/** The INGEST stream. The events service creates the stream at start and stores every message on it. */
export class IngestStream extends WorkQueue {
  constructor(
    connection: NatsConnection,
    private readonly options: IngestStreamOptions,
  ) {
    super(connection, ingestStreamName);
  }

  protected override async prepareStream({ streams }: JetStreamManager): Promise<boolean> {
    const config = streamConfig(this.options);
    const existing = await addStream(streams, config);
    if (!existing) return true;
    expectPlatform(existing, config.description, this.options.platform);
    // The broker drops accepted messages when the limit is below what the stream holds.
    const { state } = await streams.info(ingestStreamName);
    const max_bytes = Math.max(config.max_bytes, state.messages > 0 ? existing.max_bytes : 0);
    await streams.update(ingestStreamName, { ...existing, subjects: config.subjects, max_bytes });
    return true;
  }

  protected override async onEmptyFetch(): Promise<void> {
    // Nothing to do: the stream stays.
  }
}

/**
 * Checks by its description that a stream holds the messages of the configured platform.
 *
 * @throws when the stream has another description
 */
export function expectPlatform(
  { name, description = '' }: Pick<StreamConfig, 'name' | 'description'>,
  expected: string,
  platform: string,
): void {
  if (description === expected) return;
  throw new Error(
    `the stream ${name} on this NATS is described as "${description}", but PLATFORM is ${platform}. ` +
      'Messages of two platforms must not mix: use another NATS server (or account) for this platform.',
  );
}

/** Adds the stream. Returns the configuration of a stream that exists already, even if another instance just added it. */
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
    // A full stream rejects new messages: the gateway then responds with 503 and the platform keeps the message.
    discard: DiscardPolicy.New,
    max_bytes: maxGigabytes * 1024 ** 3,
    duplicate_window: nanos(deduplicationWindowMs),
  } satisfies Partial<StreamConfig>;
}

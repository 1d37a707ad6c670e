import { eventsStreamName, eventsStreamSubjects } from '@stream-events/contracts';
import {
  DiscardPolicy,
  jetstreamManager,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamAPI,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';

/** The bounds of the EVENTS stream, and which platform its events come from. */
export interface EventsStreamOptions {
  platform: string;
  maxAgeDays: number;
  maxGigabytes: number;
}

// The broker's code for a stream of this name with another configuration; with the same one, adding does nothing.
const streamNameInUse = 10058;

// Each remembered id costs the broker about 300 bytes of memory; a relay that crashed is back well within this time.
const deduplicationWindowMs = 120_000;

/**
 * Makes the EVENTS stream, or brings its subjects and bounds up to date.
 *
 * @throws when the stream carries the events of another platform, or the broker has no room for it
 */
export async function ensureEventsStream(
  connection: NatsConnection,
  options: EventsStreamOptions,
): Promise<void> {
  const { streams } = await jetstreamManager(connection);
  const config = streamConfig(options);
  const existing = await addStream(streams, config);
  if (!existing) return;
  if (existing.description !== config.description) {
    throw new Error(
      `the stream ${eventsStreamName} on this NATS says "${existing.description ?? ''}", but PLATFORM is ${options.platform}: ` +
        'events of two platforms never mix. Use another NATS (or account) for this platform.',
    );
  }
  const { subjects, max_age, max_bytes } = config;
  await streams.update(eventsStreamName, { ...existing, subjects, max_age, max_bytes });
}

/** Adds the stream; gives back the one that is there already, also when another instance adds it at this moment. */
export async function addStream(
  streams: StreamAPI,
  config: Parameters<StreamAPI['add']>[0] & { name: string },
): Promise<StreamConfig | undefined> {
  try {
    await streams.add(config);
    return undefined;
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== streamNameInUse) throw error;
    return (await streams.info(config.name)).config;
  }
}

function streamConfig(options: EventsStreamOptions) {
  return {
    name: eventsStreamName,
    description: `events of platform ${options.platform}`,
    subjects: [eventsStreamSubjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_age: nanos(options.maxAgeDays * 24 * 3_600_000),
    max_bytes: options.maxGigabytes * 1024 ** 3,
    duplicate_window: nanos(deduplicationWindowMs),
  } satisfies Partial<StreamConfig>;
}

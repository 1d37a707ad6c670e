import { eventsStreamName, eventsStreamSubjects } from '@stream-events/contracts';
import {
  DiscardPolicy,
  jetstreamManager,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';

/** The bounds of the EVENTS stream, and which platform its events come from. */
export interface EventsStreamOptions {
  platform: string;
  maxAgeDays: number;
  maxGigabytes: number;
}

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
  const manager = await jetstreamManager(connection);
  const config = streamConfig(options);
  try {
    const { config: existing } = await manager.streams.info(eventsStreamName);
    if (existing.description !== config.description) {
      throw new Error(
        `the stream ${eventsStreamName} on this NATS says "${existing.description ?? ''}", but PLATFORM is ${options.platform}: ` +
          'events of two platforms never mix. Use another NATS (or account) for this platform.',
      );
    }
    const { subjects, max_age, max_bytes } = config;
    await manager.streams.update(eventsStreamName, { ...existing, subjects, max_age, max_bytes });
  } catch (error) {
    // 10059: no such stream. Two instances that start at once both add the same configuration, which is fine.
    if (!(error instanceof JetStreamApiError) || error.code !== 10059) throw error;
    await manager.streams.add(config);
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

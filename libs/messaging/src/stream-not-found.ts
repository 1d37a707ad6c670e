import { JetStreamApiError } from '@nats-io/jetstream';

// The JetStream error code for a missing stream.
const streamNotFound = 10059;

/** Whether the broker says that the stream does not exist. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === streamNotFound;
}

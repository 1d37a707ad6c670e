import { JetStreamApiError } from '@nats-io/jetstream';

// The broker's code.
const streamNotFound = 10059;

/** Whether the broker says that there is no such stream. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === streamNotFound;
}

import { JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as wait } from 'node:timers/promises';

/** A stream cannot have the configured number of replicas, because too few nats-servers are available. */
export class TooFewServersError extends Error {}

// The broker's error codes for "replicas > 1 not supported in non-clustered mode", for "no suitable peers for placement", and for
// "insufficient storage resources available".
const replicasUnsupported = 10_074;
const noSuitablePeers = 10_005;
const insufficientStorage = 10_047;

// How long to retry. Servers that start together elect the leader of their cluster within seconds. After a longer outage, the start fails,
// and the orchestrator tries again.
const startLimitMs = 30_000;
const retryMs = 500;
const requestLimitMs = 5_000;

/**
 * Creates or updates a stream.
 *
 * @param replicas the number of replicas in the stream's configuration, for the error message
 * @throws TooFewServersError when the broker has too few servers for the replicas; otherwise, the broker's error
 */
export async function placeStream<T>(replicas: number, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || isInsufficientStorage(error)) throw error;
    if (error.code !== replicasUnsupported && error.code !== noSuitablePeers) throw error;
    throw new TooFewServersError(
      `NATS_REPLICAS is ${replicas}, but NATS cannot place ${replicas} replicas of a stream (${error.message}). ` +
        `Streams with ${replicas} replicas need a cluster of at least ${replicas} running nats-servers with JetStream: ` +
        'start the missing servers, or set a lower NATS_REPLICAS.',
      { cause: error },
    );
  }
}

/** Whether the error means that the broker has no disk space left for a stream. A cluster reports that no server is suitable. */
export function isInsufficientStorage(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return (
    error.code === insufficientStorage ||
    (error.code === noSuitablePeers && /insufficient storage/i.test(error.message))
  );
}

/**
 * Opens JetStream. Retries for 30 s while the servers of a cluster have no leader.
 *
 * @throws when the broker has no JetStream, or does not respond
 */
export async function openJetStream(connection: NatsConnection): Promise<JetStreamManager> {
  const deadline = performance.now() + startLimitMs;
  for (;;) {
    try {
      return await jetstreamManager(connection, { timeout: requestLimitMs });
    } catch (error) {
      if (performance.now() > deadline || connection.isClosed() || !isClustered(connection)) throw error;
      await wait(retryMs);
    }
  }
}

/** Whether the server at the other end of the connection belongs to a cluster. */
export function isClustered({ info }: NatsConnection): boolean {
  return typeof (info as { cluster?: unknown } | undefined)?.cluster === 'string'; // The field is missing in the client's types.
}

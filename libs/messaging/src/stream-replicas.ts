import { JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as wait } from 'node:timers/promises';

/** Too few nats-servers are available for the configured number of replicas. */
export class TooFewServersError extends Error {}

// The broker's error codes for "replicas > 1 not supported in non-clustered mode" and "no suitable peers for placement".
const replicasUnsupported = 10_074;
const noSuitablePeers = 10_005;

// How long to retry while a cluster has no leader. Servers that start together elect one within seconds. After a longer outage, the service
// fails to start, and the orchestrator restarts it.
const startLimitMs = 30_000;
const retryMs = 500;
const requestLimitMs = 5_000;

/**
 * Runs `change`, which creates or updates a stream, and explains its errors.
 *
 * @param replicas the number of replicas in the stream's configuration, for the error message
 * @throws TooFewServersError when the broker has too few servers for the replicas; otherwise the broker's error
 */
export async function placeStream<T>(replicas: number, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    // A cluster also reports too little disk space as having no suitable server.
    if (!(error instanceof JetStreamApiError) || /insufficient storage/i.test(error.message)) throw error;
    if (error.code !== replicasUnsupported && error.code !== noSuitablePeers) throw error;
    throw new TooFewServersError(
      `NATS_REPLICAS is ${replicas}, but NATS cannot place ${replicas} replicas of a stream (${error.message}). ` +
        `Streams with ${replicas} replicas need a cluster of at least ${replicas} running nats-servers with JetStream: ` +
        'start the missing servers, or set a lower NATS_REPLICAS.',
      { cause: error },
    );
  }
}

/**
 * Opens JetStream, and retries for 30 s while a cluster has no leader.
 *
 * @throws when the broker has no JetStream or does not respond, or the cluster has no leader after 30 s
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

/** Whether the connected server belongs to a cluster. */
export function isClustered({ info }: NatsConnection): boolean {
  return typeof (info as { cluster?: unknown } | undefined)?.cluster === 'string'; // Safe cast: the client's types lack this field.
}

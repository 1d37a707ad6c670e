import { jetstreamManager, type ConsumerMessages } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { EventRecord } from './event-record.js';

/** Handles an event. The id is the key for deduplication. */
export type HandleEvent = (event: EventRecord, id: string) => Promise<void> | void;

/** Reads the epoch of the EVENTS stream. Sequences are comparable within one epoch only. */
export async function readEpoch(connection: NatsConnection): Promise<string> {
  const manager = await jetstreamManager(connection);
  const { config } = await manager.streams.info('EVENTS');
  return / epoch ([0-9a-f]{8})$/.exec(config.description ?? '')?.[1] ?? 'none';
}

/** Stops reading messages when the epoch of the stream changes, or when the signal aborts. */
export function endWithEpoch(
  messages: ConsumerMessages,
  { connection, epoch, signal }: { connection: NatsConnection; epoch: string; signal: AbortSignal },
): void {
  const check = async (): Promise<void> => {
    if ((await readEpoch(connection)) !== epoch) messages.stop();
  };
  // While NATS is unavailable, a check fails, and the timer runs another one 2 s later.
  const timer = setInterval(() => void check().catch(() => undefined), 2_000);
  const stop = (): void => messages.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  void messages.closed().then(() => {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
  });
}

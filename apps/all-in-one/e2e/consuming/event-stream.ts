import { jetstreamManager, type ConsumerMessages } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** An event, as the HTTP API shows it. */
export interface EventRecord {
  id: string | null;
  event_id: string | null;
  event_type: string;
  event_source: string;
  event_data: Record<string, unknown>;
  created: string;
  origin: 'platform' | 'test' | 'replay';
}

/** Gets an event, and the id to de-duplicate by. */
export type HandleEvent = (event: EventRecord, id: string) => Promise<void> | void;

/** The epoch of the EVENTS stream: sequences of two epochs have nothing to do with each other. */
export async function readEpoch(connection: NatsConnection): Promise<string> {
  const manager = await jetstreamManager(connection);
  const { config } = await manager.streams.info('EVENTS');
  return / epoch ([0-9a-f]{8})$/.exec(config.description ?? '')?.[1] ?? 'none';
}

/** Ends the reading of messages when the stream is of another epoch than it was, or the signal says so. */
export function endWithEpoch(
  messages: ConsumerMessages,
  { connection, epoch, signal }: { connection: NatsConnection; epoch: string; signal: AbortSignal },
): void {
  const check = async (): Promise<void> => {
    if ((await readEpoch(connection)) !== epoch) messages.stop();
  };
  // While the broker is away it is asked in vain: the next time, then.
  const timer = setInterval(() => void check().catch(() => undefined), 2_000);
  const stop = (): void => messages.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  void messages.closed().then(() => {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
  });
}

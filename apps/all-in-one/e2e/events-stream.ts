import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName } from '@stream-events/contracts';
import type { EventRecord } from './api.js';

/** A message on the EVENTS stream. */
export interface StreamMessage {
  subject: string;
  /** The `Nats-Msg-Id` header. */
  id: string;
  record: EventRecord;
  /** The payload as text. */
  text: string;
}

// A request takes milliseconds, or seconds when this process has to wait for a CPU core.
const requestLimitMs = 20_000;

/** Reads every message on the EVENTS stream, oldest first. */
export async function readEventsStream(subscriber: NatsConnection): Promise<StreamMessage[]> {
  const manager = await jetstreamManager(subscriber, { checkAPI: false, timeout: requestLimitMs });
  const { state } = await manager.streams.info(eventsStreamName);
  if (state.messages === 0) return [];
  const { consumers } = jetstream(subscriber, { timeout: requestLimitMs });
  const consumer = await consumers.get(eventsStreamName, {
    // A subscriber cannot delete the consumer, so it expires. 10 s are enough when this process has to wait for a CPU core.
    inactive_threshold: 10_000,
  });
  const messages: StreamMessage[] = [];
  for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 10_000 })) {
    const text = message.string();
    const record = JSON.parse(text) as EventRecord; // Safe cast: tests compare the record with the API's record.
    messages.push({
      subject: message.subject,
      id: message.headers?.get('Nats-Msg-Id') ?? '',
      record,
      text,
    });
  }
  return messages;
}

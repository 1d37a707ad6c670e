import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName } from '@stream-events/contracts';
import type { EventRecord } from './api.js';

export interface StreamMessage {
  subject: string;
  id: string;
  record: EventRecord;
  text: string;
}

// Request timeout. A request takes milliseconds, but seconds when this process waits for a CPU core.
const requestLimitMs = 20_000;

export async function readEventsStream(subscriber: NatsConnection): Promise<StreamMessage[]> {
  const manager = await jetstreamManager(subscriber, { checkAPI: false, timeout: requestLimitMs });
  const { state } = await manager.streams.info(eventsStreamName);
  if (state.messages === 0) return [];
  const { consumers } = jetstream(subscriber, { timeout: requestLimitMs });
  const consumer = await consumers.get(eventsStreamName, {
    // A subscriber has no permission to delete the consumer, so let it expire. 10 s allow for waits for a CPU core.
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

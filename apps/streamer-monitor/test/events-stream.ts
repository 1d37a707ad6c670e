import { jetstreamManager, StorageType, type ConsumerInfo } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  eventsStreamName,
  eventsStreamSubjects,
  eventSubject,
  occurredAtHeader,
  printEventRecord,
  type StoredEvent,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import type { TestNats } from '@stream-events/testing';
import type { StreamEvent } from '../src/streams/stream-recorder.service.js';

/** Stands in for the events service on a broker: creates the EVENTS stream and publishes to it. */
export class EventsStream {
  private constructor(private readonly connection: NatsConnection) {}

  static async connect(nats: TestNats): Promise<EventsStream> {
    return new EventsStream(
      await connectNats({ urls: [nats.urlFor('events')], name: 'test', account: 'EVENTS' }),
    );
  }

  async create(): Promise<void> {
    const { streams } = await jetstreamManager(this.connection);
    await streams.add({
      name: eventsStreamName,
      subjects: [eventsStreamSubjects],
      storage: StorageType.File,
      max_bytes: 64 * 1024 ** 2,
    });
  }

  async delete(): Promise<void> {
    const { streams } = await jetstreamManager(this.connection);
    await streams.delete(eventsStreamName).catch(() => undefined); // the stream may not exist
  }

  /** Counts the messages that are not acknowledged yet. Throws if the consumer does not exist. */
  async countLeft(): Promise<number> {
    const { num_pending, num_ack_pending } = await this.readConsumer();
    return num_pending + num_ack_pending;
  }

  /** Counts the instances that are waiting for messages. */
  async countReaders(): Promise<number> {
    return (await this.readConsumer()).num_waiting;
  }

  private async readConsumer(): Promise<ConsumerInfo> {
    const { consumers } = await jetstreamManager(this.connection);
    return consumers.info(eventsStreamName, 'streamer-monitor-streams');
  }

  async publishEvent(event: StreamEvent, overrides: Partial<StoredEvent> = {}): Promise<void> {
    const stored = { ...toStoredEvent(event), ...overrides };
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', stored.id);
    messageHeaders.set(occurredAtHeader, new Date(event.at).toISOString());
    const subject = eventSubject(stored.origin, stored.eventType, event.userId);
    await this.publish(subject, printEventRecord(stored), messageHeaders);
  }

  async publish(subject: string, payload: string, messageHeaders = headers()): Promise<void> {
    const reply = await this.connection.request(subject, payload, {
      headers: messageHeaders,
      timeout: 10_000,
    });
    const answer = reply.json<{ error?: unknown }>();
    if (answer.error) throw new Error(JSON.stringify(answer.error));
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

/** Returns a stream event as the events service stores it. */
export function toStoredEvent(event: StreamEvent): StoredEvent {
  const broadcaster = {
    broadcaster_user_id: event.userId,
    broadcaster_user_login: event.userLogin,
    broadcaster_user_name: event.userLogin,
  };
  const isOnline = event.kind === 'online';
  const data = isOnline
    ? {
        ...broadcaster,
        id: event.stream.streamId,
        type: event.stream.type,
        started_at: new Date(event.stream.startedAt),
      }
    : { ...broadcaster, ...(event.offline.streamId !== null && { id: event.offline.streamId }) };
  const id = isOnline ? event.stream.eventId : event.offline.eventId;
  return {
    id,
    eventId: `message-${id}`,
    eventType: isOnline ? 'stream-online' : 'stream-offline',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: JSON.stringify(data),
    occurredAt: event.at,
  };
}

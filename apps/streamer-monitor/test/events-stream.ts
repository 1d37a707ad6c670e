import { jetstreamManager, StorageType } from '@nats-io/jetstream';
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

/** The events service's part of a broker: the EVENTS stream and what is published on it. */
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
    await streams.delete(eventsStreamName).catch(() => undefined); // was there none, all is well
  }

  /** How many messages each of the consumers has that are not acknowledged or not even delivered. */
  async countLeft(): Promise<number[]> {
    const { consumers } = await jetstreamManager(this.connection);
    const infos = await consumers.list(eventsStreamName).next();
    return infos.map(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending);
  }

  /** How many instances wait for messages of each of the consumers. */
  async countReaders(): Promise<number[]> {
    const { consumers } = await jetstreamManager(this.connection);
    const infos = await consumers.list(eventsStreamName).next();
    return infos.map(({ num_waiting }) => num_waiting);
  }

  async publishEvent(said: StreamEvent, overrides: Partial<StoredEvent> = {}): Promise<void> {
    const event = { ...toStoredEvent(said), ...overrides };
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', event.id);
    messageHeaders.set(occurredAtHeader, new Date(said.at).toISOString());
    const subject = eventSubject(event.origin, event.eventType, said.userId);
    await this.publish(subject, printEventRecord(event), messageHeaders);
  }

  async publish(subject: string, payload: string, messageHeaders = headers()): Promise<void> {
    const reply = await this.connection.request(subject, payload, {
      headers: messageHeaders,
      timeout: 5_000,
    });
    const answer = reply.json<{ error?: unknown }>();
    if (answer.error) throw new Error(JSON.stringify(answer.error));
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

/** What was said, as the event that said it. */
export function toStoredEvent(said: StreamEvent): StoredEvent {
  const broadcaster = {
    broadcaster_user_id: said.userId,
    broadcaster_user_login: said.userLogin,
    broadcaster_user_name: said.userLogin,
  };
  const isOnline = said.kind === 'online';
  const data = isOnline
    ? {
        ...broadcaster,
        id: said.stream.streamId,
        type: said.stream.type,
        started_at: new Date(said.stream.startedAt),
      }
    : { ...broadcaster, ...(said.offline.streamId !== null && { id: said.offline.streamId }) };
  const id = isOnline ? said.stream.eventId : said.offline.eventId;
  return {
    id,
    eventId: `message-${id}`,
    eventType: isOnline ? 'stream-online' : 'stream-offline',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: JSON.stringify(data),
    occurredAt: said.at,
  };
}

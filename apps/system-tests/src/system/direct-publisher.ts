import { isJsonObject, toEventMessage, type PublishableEvent } from '@stream-events/contracts';
import { connectNats, natsConnectionOptions, StreamPublisher } from '@stream-events/messaging';
import { v7 as mintId } from 'uuid';
import type { SentEvent } from '../chaos/ledger.js';
import type { Servers } from '../system/servers.js';

/** Publishes to the EVENTS stream like the events service. Bypasses the API and the store, which would limit the rate. */
export class DirectPublisher {
  private constructor(
    private readonly publisher: StreamPublisher,
    private readonly end: () => Promise<void>,
  ) {}

  static async connect(servers: Servers): Promise<DirectPublisher> {
    const options = {
      urls: [servers.nats.urlFor('events')],
      name: 'direct-publisher',
      account: 'EVENTS',
    } as const;
    const connection = await connectNats(options);
    const publisher = new StreamPublisher(connection, natsConnectionOptions(options));
    return new DirectPublisher(publisher, () => connection.close());
  }

  async close(): Promise<void> {
    this.publisher.close();
    await this.end();
  }

  /** Resolves when the stream has acknowledged every event. */
  async publish(events: readonly SentEvent[]): Promise<void> {
    await this.publisher.publish(events.map((event) => toEventMessage(toPublishable(event))));
  }
}

function toPublishable({ marker, kind, eventType, eventData }: SentEvent): PublishableEvent {
  const data: unknown = JSON.parse(eventData);
  const broadcaster = isJsonObject(data) ? data.broadcaster_user_id : undefined;
  return {
    id: mintId(),
    eventId: marker,
    eventType,
    eventSource: 'system-test',
    origin: kind === 'test event' ? 'test' : 'platform',
    eventData,
    broadcasterUserId: typeof broadcaster === 'string' ? broadcaster : null,
    raidToId: null,
  };
}

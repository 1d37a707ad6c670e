import { DiscardPolicy, jetstreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, inboxPrefix, natsUsers } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { startTestNats, type TestNats } from '@stream-events/testing';
import { ensureEventsStream } from '../src/relay/events-stream.js';
import { OutboxRepository } from '../src/relay/outbox.repository.js';
import { Relay } from '../src/relay/relay.service.js';
import { StreamPublisher } from '../src/relay/stream-publisher.js';
import type { EventStore } from './event-store.js';

/** A relay on its own connection, with its counters. */
export interface RunningRelay {
  relay: Relay;
  publisher: StreamPublisher;
  metrics: Registry;
  stop(): Promise<void>;
}

export const streamOptions = { platform: 'simulator', maxAgeDays: 7, maxGigabytes: 1 };

/** A broker with the EVENTS stream, and what tests do with it. */
export class StreamSetup {
  private constructor(
    readonly nats: TestNats,
    readonly connection: NatsConnection,
  ) {}

  static async start(): Promise<StreamSetup> {
    const nats = await startTestNats(Object.values(natsUsers));
    const setup = new StreamSetup(nats, await connectNats({ urls: [nats.urlFor('events')], name: 'test' }));
    await ensureEventsStream(setup.connection, streamOptions);
    return setup;
  }

  async close(): Promise<void> {
    await this.connection.close();
    await this.nats.stop();
  }

  /** A relay of an instance of its own, which does not sweep the outbox until it is started. */
  async createRelay(store: EventStore): Promise<RunningRelay> {
    const connection = await connectNats({ urls: [this.nats.urlFor('events')], name: 'test-relay' });
    const publisher = new StreamPublisher(connection, inboxPrefix('events'));
    const metrics = new Registry();
    const outbox = new OutboxRepository(store.dataSource);
    const relay = new Relay(outbox, publisher, createLogger('test', 'silent'), metrics);
    const stop = async (): Promise<void> => {
      await relay.stop();
      publisher.close();
      await connection.close();
    };
    return { relay, publisher, metrics, stop };
  }

  async deleteStream(): Promise<void> {
    const manager = await jetstreamManager(this.connection);
    await manager.streams.delete(eventsStreamName);
  }

  /** Makes the stream anew: empty, also of what it remembers for de-duplication. */
  async recreateStream(): Promise<void> {
    const manager = await jetstreamManager(this.connection);
    await manager.streams.delete(eventsStreamName).catch(() => undefined);
    await ensureEventsStream(this.connection, streamOptions);
  }

  /** From now on the stream holds so many messages, and refuses more. */
  async limitMessages(max_msgs: number): Promise<void> {
    const manager = await jetstreamManager(this.connection);
    const { config } = await manager.streams.info(eventsStreamName);
    await manager.streams.update(eventsStreamName, { ...config, max_msgs, discard: DiscardPolicy.New });
  }

  /** Everything that is on the stream, in its order. */
  async readStream(): Promise<{ subject: string; messageId: string; text: string }[]> {
    const manager = await jetstreamManager(this.connection);
    const { state } = await manager.streams.info(eventsStreamName);
    const sequences = Array.from({ length: state.messages }, (_, index) => state.first_seq + index);
    const messages = await Promise.all(
      sequences.map((seq) => manager.streams.getMessage(eventsStreamName, { seq })),
    );
    return messages
      .filter((message): message is StoredMsg => message !== null)
      .map((message) => ({
        subject: message.subject,
        messageId: message.header.get('Nats-Msg-Id'),
        text: message.string(),
      }));
  }
}

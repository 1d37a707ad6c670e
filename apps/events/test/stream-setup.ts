import {
  DiscardPolicy,
  jetstreamManager,
  type JetStreamManager,
  type StoredMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  eventsStreamName,
  inboxPrefix,
  natsUsers,
  occurredAtHeader,
  parseStreamDescription,
} from '@stream-events/contracts';
import { connectNats, isStreamNotFound, StreamPublisher } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { EventsStream, type EventsStreamOptions } from '../src/relay/events-stream.js';
import { OutboxRepository } from '../src/relay/outbox.repository.js';
import { Relay } from '../src/relay/relay.service.js';
import { StreamCheck } from '../src/relay/stream-check.service.js';
import { StreamRecordRepository } from '../src/relay/stream-record.repository.js';
import { StreamWatch } from '../src/relay/stream-watch.service.js';
import type { EventStore } from './event-store.js';

/** A relay on its own connection, with its metrics. */
export interface RunningRelay {
  relay: Relay;
  watch: StreamWatch;
  publisher: StreamPublisher;
  outbox: OutboxRepository;
  metrics: Registry;
  stop(): Promise<void>;
}

/** A message on the stream. */
export interface StreamMessage {
  subject: string;
  messageId: string;
  text: string;
  /** The header with the time when the event happened, if it was sent. */
  occurredAt?: string;
}

/** Parts that a test can replace by failing ones. */
export interface CheckParts {
  stream?: EventsStream;
  records?: StreamRecordRepository;
  metrics?: Registry;
}

// A busy machine may exceed the client's default of 5 s.
const requestLimitMs = 20_000;
// Maximum number of concurrent requests. More requests would queue in the broker and time out.
const concurrency = 100;

export const streamOptions = {
  platform: 'simulator',
  maxAgeMs: 7 * 24 * 3_600_000,
  maxGigabytes: 1,
};

/** A broker, and operations on its EVENTS stream. */
export class StreamSetup {
  private constructor(
    readonly nats: TestNats,
    readonly connection: NatsConnection,
  ) {}

  /** The broker has no EVENTS stream yet. */
  static async start(): Promise<StreamSetup> {
    const nats = await startTestNats(Object.values(natsUsers));
    return new StreamSetup(
      nats,
      await connectNats({ urls: [nats.urlFor('events')], name: 'test', account: 'EVENTS' }),
    );
  }

  async close(): Promise<void> {
    await this.connection.close();
    await this.nats.stop();
  }

  openStream(options: Partial<EventsStreamOptions> = {}): Promise<EventsStream> {
    return EventsStream.open(this.connection, { ...streamOptions, ...options });
  }

  /** Creates a check, as another instance would. */
  async createCheck(store: EventStore, parts: CheckParts = {}): Promise<StreamCheck> {
    return new StreamCheck(
      parts.stream ?? (await this.openStream()),
      parts.records ?? new StreamRecordRepository(store.dataSource),
      createLogger('test', 'silent'),
      parts.metrics ?? new Registry(),
    );
  }

  /** Creates a relay, as another instance would. The relay watches the stream, but runs no recovery pass until it is started. */
  async createRelay(store: EventStore): Promise<RunningRelay> {
    const connection = await connectNats({
      urls: [this.nats.urlFor('events')],
      name: 'test-relay',
      account: 'EVENTS',
    });
    const publisher = new StreamPublisher(connection, {
      inboxPrefix: inboxPrefix('events.events'),
      timeoutMs: requestLimitMs,
    });
    const metrics = new Registry();
    const logger = createLogger('test', 'silent');
    const stream = await EventsStream.open(connection, streamOptions);
    const check = await this.createCheck(store, { stream, metrics });
    const watch = new StreamWatch(stream, check, publisher, logger);
    const outbox = new OutboxRepository(store.dataSource);
    const relay = new Relay(outbox, publisher, watch, logger, metrics);
    await watch.start();
    // `start` waits only 5 s for the first check.
    await eventually(() => {
      if (!watch.trusted) throw new Error('the stream is in doubt');
    });
    const stop = async (): Promise<void> => {
      await relay.stop();
      await watch.stop();
      publisher.close();
      await connection.close();
    };
    return { relay, watch, publisher, outbox, metrics, stop };
  }

  /** Deletes the stream if it exists. Retries, because a busy broker may respond too late. */
  async deleteStream(): Promise<void> {
    const manager = await this.manage();
    await eventually(
      () =>
        manager.streams.delete(eventsStreamName).catch((error: unknown) => {
          if (!isStreamNotFound(error)) throw error;
        }),
      { timeoutMs: 2 * requestLimitMs },
    );
  }

  /** The new stream has no messages and an empty deduplication window. */
  async recreateStream(epoch = '00000000'): Promise<void> {
    await this.deleteStream();
    await (await this.openStream()).create(epoch);
  }

  /** Cuts the stream down to its first messages, like a power failure or a restored backup. */
  async loseTail(keptMessages: number): Promise<void> {
    const manager = await this.manage();
    const { config } = await this.readInfo();
    const kept = (await this.readStream()).slice(0, keptMessages);
    await manager.streams.delete(eventsStreamName);
    await manager.streams.add(config);
    for (const { subject, messageId, text } of kept) {
      const messageHeaders = headers();
      messageHeaders.set('Nats-Msg-Id', messageId);
      await this.connection.request(subject, text, { headers: messageHeaders, timeout: requestLimitMs });
    }
  }

  /** Makes the stream reject messages beyond this number. */
  async limitMessages(max_msgs: number): Promise<void> {
    const manager = await this.manage();
    const { config } = await manager.streams.info(eventsStreamName);
    await manager.streams.update(eventsStreamName, { ...config, max_msgs, discard: DiscardPolicy.New });
  }

  async readInfo(): Promise<StreamInfo> {
    return (await this.manage()).streams.info(eventsStreamName);
  }

  async readEpoch(): Promise<string | undefined> {
    return parseStreamDescription((await this.readInfo()).config.description ?? '')?.epoch;
  }

  /** Reads all messages of the stream in order. */
  async readStream(): Promise<StreamMessage[]> {
    const manager = await this.manage();
    const { state } = await manager.streams.info(eventsStreamName);
    const sequences = Array.from(
      { length: state.last_seq - state.first_seq + 1 },
      (_, index) => state.first_seq + index,
    );
    const messages: (StoredMsg | null)[] = [];
    for (let first = 0; first < sequences.length; first += concurrency)
      messages.push(
        ...(await Promise.all(
          sequences
            .slice(first, first + concurrency)
            .map((seq) => manager.streams.getMessage(eventsStreamName, { seq })),
        )),
      );
    return messages
      .filter((message): message is StoredMsg => message !== null)
      .map((message) => ({
        subject: message.subject,
        messageId: message.header.get('Nats-Msg-Id'),
        text: message.string(),
        ...(message.header.has(occurredAtHeader) && { occurredAt: message.header.get(occurredAtHeader) }),
      }));
  }

  private manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { timeout: requestLimitMs });
  }
}

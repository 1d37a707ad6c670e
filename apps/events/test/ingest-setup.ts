import { AckPolicy, jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import { headers, nanos, type NatsConnection } from '@nats-io/transport-node';
import {
  ingestStreamName,
  ingestSubject,
  natsUsers,
  printIngestMessage,
  type NewEvent,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { IngestDrain } from '../src/ingest/ingest-drain.service.js';
import { IngestStream } from '../src/ingest/ingest-stream.js';
import type { EventStore } from './event-store.js';

/** A drain on its own connection, with its metrics. */
export interface RunningDrain {
  drain: IngestDrain;
  metrics: Registry;
  stop(): Promise<void>;
}

/** The drain's consumer. */
const drainConsumer = {
  durable_name: 'drain',
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(30_000),
  max_ack_pending: 2_000,
};

// A busy machine may exceed the client's default of 5 s.
const requestLimitMs = 20_000;

export const ingestOptions = { platform: 'simulator', maxGigabytes: 1 };

/** A broker, and operations on its INGEST stream. */
export class IngestSetup {
  /** How long the broker waits for an acknowledgement before it redelivers a message. A change affects only new drains. */
  ackWaitMs = 30_000;

  private constructor(
    readonly nats: TestNats,
    readonly connection: NatsConnection,
    private readonly gateway: NatsConnection,
  ) {}

  static async start(): Promise<IngestSetup> {
    const nats = await startTestNats(Object.values(natsUsers));
    return new IngestSetup(
      nats,
      await connectNats({ urls: [nats.urlFor('events')], name: 'test' }),
      await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' }),
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.connection.close(), this.gateway.close()]);
    await this.nats.stop();
  }

  /** The drain is not started yet. */
  async createDrain(store: EventStore): Promise<RunningDrain> {
    const connection = await connectNats({ urls: [this.nats.urlFor('events')], name: 'test-drain' });
    const metrics = new Registry();
    const logger = createLogger('test', 'silent');
    const drain = new IngestDrain(
      new IngestStream(connection, { ...ingestOptions, consumerConfig: this.consumerConfig }),
      store.writer,
      logger,
      metrics,
    );
    const stop = async (): Promise<void> => {
      await drain.stop();
      await connection.close();
    };
    return { drain, metrics, stop };
  }

  /** Publishes like the gateway. Returns the stream's reply, which is `{"error":…}` for a rejected message. */
  async publish(payload: string | Uint8Array, messageId?: string): Promise<Record<string, unknown>> {
    const messageHeaders = headers();
    if (messageId !== undefined) messageHeaders.set('Nats-Msg-Id', messageId);
    const reply = await this.gateway.request(ingestSubject, payload, {
      headers: messageHeaders,
      timeout: requestLimitMs,
    });
    return reply.json<Record<string, unknown>>();
  }

  async publishEvents(events: readonly NewEvent[]): Promise<void> {
    await Promise.all(events.map((event) => this.publish(printIngestMessage(event))));
  }

  async count(): Promise<number> {
    return (await this.manager()).streams.info(ingestStreamName).then(({ state }) => state.messages);
  }

  /** Delivers messages to the drain's consumer, as if to an instance that dies before it acknowledges them. */
  async deliver(count: number): Promise<JsMsg[]> {
    await (
      await this.manager()
    ).consumers.add(ingestStreamName, { ...drainConsumer, ...this.consumerConfig });
    const consumer = await jetstream(this.connection).consumers.get(ingestStreamName, 'drain');
    const messages: JsMsg[] = [];
    // The fetch ends as soon as it has these messages.
    for await (const message of await consumer.fetch({ max_messages: count, expires: 30_000 }))
      messages.push(message);
    return messages;
  }

  /** Counts the drains that are waiting for messages. */
  async countReaders(): Promise<number> {
    const infos = await (await this.manager()).consumers.list(ingestStreamName).next();
    return infos.reduce((sum, { num_waiting }) => sum + num_waiting, 0);
  }

  async deleteStream(): Promise<void> {
    await (await this.manager()).streams.delete(ingestStreamName).catch(() => undefined); // the stream may not exist
  }

  /** Limits how many messages the stream holds; -1 removes the limit. */
  async limitMessages(max_msgs: number): Promise<void> {
    const { streams } = await this.manager();
    const { config } = await streams.info(ingestStreamName);
    await streams.update(ingestStreamName, { ...config, max_msgs });
  }

  manager() {
    return jetstreamManager(this.connection, { timeout: requestLimitMs });
  }

  /** After a restart of the broker, waits until the connections work again. Until then, the client drops what it sends. */
  async reconnect(): Promise<void> {
    await eventually(() => Promise.all([this.connection.flush(), this.gateway.flush()]));
  }

  private get consumerConfig() {
    return { ack_wait: nanos(this.ackWaitMs) };
  }
}

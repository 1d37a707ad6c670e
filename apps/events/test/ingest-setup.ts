import { jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  ingestStreamName,
  ingestSubject,
  natsUsers,
  printIngestMessage,
  type NewEvent,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { startTestNats, type TestNats } from '@stream-events/testing';
import { IngestDrain } from '../src/ingest/ingest-drain.service.js';
import { IngestStream } from '../src/ingest/ingest-stream.js';
import type { EventStore } from './event-store.js';

/** A drain of an instance of its own, with its counters. */
export interface RunningDrain {
  drain: IngestDrain;
  metrics: Registry;
  stop(): Promise<void>;
}

export const ingestOptions = { platform: 'simulator', maxGigabytes: 1 };

/** A broker, and what tests do with its INGEST stream. */
export class IngestSetup {
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

  /** A drain that is not started yet. */
  async createDrain(store: EventStore): Promise<RunningDrain> {
    const connection = await connectNats({ urls: [this.nats.urlFor('events')], name: 'test-drain' });
    const stream = new IngestStream(connection, ingestOptions);
    const metrics = new Registry();
    const logger = createLogger('test', 'silent');
    const drain = new IngestDrain(stream, store.ingest, store.deadLetters, logger, metrics);
    const stop = async (): Promise<void> => {
      await drain.stop();
      await connection.close();
    };
    return { drain, metrics, stop };
  }

  /** Publishes as the gateway may; says what the stream answered, `{"error":…}` when it refuses. */
  async publish(payload: string | Uint8Array, messageId?: string): Promise<Record<string, unknown>> {
    const messageHeaders = headers();
    if (messageId !== undefined) messageHeaders.set('Nats-Msg-Id', messageId);
    const reply = await this.gateway.request(ingestSubject, payload, {
      headers: messageHeaders,
      timeout: 5_000,
    });
    return reply.json<Record<string, unknown>>();
  }

  async publishEvents(events: readonly NewEvent[]): Promise<void> {
    await Promise.all(events.map((event) => this.publish(printIngestMessage(event))));
  }

  /** How many messages wait on the stream. */
  async count(): Promise<number> {
    return (await this.manager()).streams.info(ingestStreamName).then(({ state }) => state.messages);
  }

  /** How many drains wait for messages. */
  async countReaders(): Promise<number> {
    const infos = await (await this.manager()).consumers.list(ingestStreamName).next();
    return infos.reduce((sum, { num_waiting }) => sum + num_waiting, 0);
  }

  async deleteStream(): Promise<void> {
    await (await this.manager()).streams.delete(ingestStreamName).catch(() => undefined); // was there none, all is well
  }

  /** From now on the stream holds so many messages, or as many as it can (-1). */
  async limitMessages(max_msgs: number): Promise<void> {
    const { streams } = await this.manager();
    const { config } = await streams.info(ingestStreamName);
    await streams.update(ingestStreamName, { ...config, max_msgs });
  }

  manager() {
    return jetstreamManager(this.connection);
  }
}

import {
  AckPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JsMsg,
} from '@nats-io/jetstream';
import { headers, nanos, type NatsConnection } from '@nats-io/transport-node';
import {
  ingestStreamName,
  ingestSubject,
  intakeStreamName,
  intakeSubject,
  natsUsers,
  printIngestMessage,
  type NewEvent,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { IngestDrain } from '../src/ingest/ingest-drain.service.js';
import { IngestStream } from '../src/ingest/ingest-stream.js';
import { IntakeStream } from '../src/ingest/intake-stream.js';
import type { EventStore } from './event-store.js';

/** A drain on its own connection, with its metrics. */
export interface RunningDrain {
  drain: IngestDrain;
  metrics: Registry;
  stop(): Promise<void>;
}

/** The drain's consumer, as version 0.1.0 created it. */
const drainConsumer = {
  durable_name: 'drain',
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(30_000),
  max_ack_pending: 2_000,
};

// A busy machine may exceed the client's default of 5 s.
const requestLimitMs = 20_000;

export const ingestOptions = { platform: 'simulator', maxGigabytes: 1 };

/** A broker, and operations on its INGEST and INTAKE streams. */
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

  /** The drain is not started yet. `quietMs` is how long INTAKE must be quiet before the drain closes it. */
  async createDrain(
    store: EventStore,
    quietMs?: number,
    maxGigabytes = ingestOptions.maxGigabytes,
  ): Promise<RunningDrain> {
    const connection = await connectNats({ urls: [this.nats.urlFor('events')], name: 'test-drain' });
    const metrics = new Registry();
    const logger = createLogger('test', 'silent');
    const intakeOptions = { platform: ingestOptions.platform, ...(quietMs !== undefined && { quietMs }) };
    const drain = new IngestDrain(
      new IngestStream(connection, { ...ingestOptions, maxGigabytes, consumerConfig: this.consumerConfig }),
      new IntakeStream(connection, intakeOptions, logger),
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
  async publish(
    payload: string | Uint8Array,
    messageId?: string,
    subject = ingestSubject,
  ): Promise<Record<string, unknown>> {
    const messageHeaders = headers();
    if (messageId !== undefined) messageHeaders.set('Nats-Msg-Id', messageId);
    const reply = await this.gateway.request(subject, payload, {
      headers: messageHeaders,
      timeout: requestLimitMs,
    });
    return reply.json<Record<string, unknown>>();
  }

  async publishEvents(events: readonly NewEvent[]): Promise<void> {
    await Promise.all(events.map((event) => this.publish(printIngestMessage(event))));
  }

  /** Creates the INTAKE stream and its consumer exactly as version 0.1.0 (commit 471d8fb) did. */
  async createIntake(platform = ingestOptions.platform): Promise<void> {
    const { streams, consumers } = await this.manager();
    await streams.add({
      name: 'INTAKE',
      description: `intake of platform ${platform}`,
      subjects: ['intake.events'],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_bytes: 2 * 1024 ** 3,
      duplicate_window: nanos(120_000),
    });
    await consumers.add('INTAKE', drainConsumer);
  }

  /** Publishes like a gateway of version 0.1.0. */
  async publishToIntake(events: readonly NewEvent[]): Promise<void> {
    const answers = await Promise.all(
      events.map((event) =>
        this.publish(printIngestMessage(event), event.eventId ?? event.id, intakeSubject),
      ),
    );
    for (const answer of answers) if ('error' in answer) throw new Error(JSON.stringify(answer));
  }

  /** Reserves the broker's disk space until less than 1 MiB is left, and returns a function that frees it. */
  async reserveDisk(): Promise<() => Promise<void>> {
    const { streams } = await this.manager();
    const names: string[] = [];
    for (let max_bytes = 2 ** 50; max_bytes >= 2 ** 20;) {
      const name = `RESERVED_${names.length}`;
      const isReserved = await streams.add({ name, subjects: [name], max_bytes }).then(
        () => true,
        () => false, // less space than this is left
      );
      if (isReserved) names.push(name);
      else max_bytes /= 2;
    }
    return async () => {
      for (const name of names) await streams.delete(name);
    };
  }

  async hasIntake(): Promise<boolean> {
    return (await (await this.manager()).streams.names().next()).includes(intakeStreamName);
  }

  async deleteIntake(): Promise<void> {
    await (await this.manager()).streams.delete(intakeStreamName).catch(() => undefined); // the stream may not exist
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

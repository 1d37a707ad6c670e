import { jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  intakeStreamName,
  intakeSubject,
  natsUsers,
  printIntakeMessage,
  type NewEvent,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { startTestNats, type TestNats } from '@stream-events/testing';
import { IntakeDrain } from '../src/intake/intake-drain.service.js';
import { IntakeStream } from '../src/intake/intake-stream.js';
import type { EventStore } from './event-store.js';

/** A drain of an instance of its own, with its counters. */
export interface RunningDrain {
  drain: IntakeDrain;
  metrics: Registry;
  stop(): Promise<void>;
}

export const intakeOptions = { platform: 'simulator', maxGigabytes: 1 };

/** A broker, and what tests do with its INTAKE stream. */
export class IntakeSetup {
  private constructor(
    readonly nats: TestNats,
    readonly connection: NatsConnection,
    private readonly gateway: NatsConnection,
  ) {}

  static async start(): Promise<IntakeSetup> {
    const nats = await startTestNats(Object.values(natsUsers));
    return new IntakeSetup(
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
    const stream = new IntakeStream(connection, intakeOptions);
    const metrics = new Registry();
    const logger = createLogger('test', 'silent');
    const drain = new IntakeDrain(stream, store.intake, store.parked, logger, metrics);
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
    const reply = await this.gateway.request(intakeSubject, payload, {
      headers: messageHeaders,
      timeout: 5_000,
    });
    return reply.json<Record<string, unknown>>();
  }

  async publishEvents(events: readonly NewEvent[]): Promise<void> {
    await Promise.all(events.map((event) => this.publish(printIntakeMessage(event))));
  }

  /** How many messages wait on the stream. */
  async count(): Promise<number> {
    return (await this.manager()).streams.info(intakeStreamName).then(({ state }) => state.messages);
  }

  /** How many drains wait for messages. */
  async countReaders(): Promise<number> {
    const infos = await (await this.manager()).consumers.list(intakeStreamName).next();
    return infos.reduce((sum, { num_waiting }) => sum + num_waiting, 0);
  }

  async deleteStream(): Promise<void> {
    await (await this.manager()).streams.delete(intakeStreamName).catch(() => undefined); // was there none, all is well
  }

  /** From now on the stream holds so many messages, or as many as it can (-1). */
  async limitMessages(max_msgs: number): Promise<void> {
    const { streams } = await this.manager();
    const { config } = await streams.info(intakeStreamName);
    await streams.update(intakeStreamName, { ...config, max_msgs });
  }

  manager() {
    return jetstreamManager(this.connection);
  }
}

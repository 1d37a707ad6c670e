import { jest } from '@jest/globals';
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { headers, nuid } from '@nats-io/transport-node';
import type { EventsStreamClient } from '../src/live/stream/events-stream-client.js';
import type { EventsBroker } from './events-broker.js';

const name = 'LAGGING';
const timeout = 10_000;

/**
 * Simulates a cluster server that is catching up after a restart: a copy of the first messages of the EVENTS stream. A consumer on it sees
 * the same sequences and ids, but not the later messages.
 */
export class LaggingReplica {
  private constructor(
    private readonly broker: EventsBroker,
    private readonly manager: JetStreamManager,
  ) {}

  /** Creates a copy that contains these events. */
  static async create(broker: EventsBroker, ids: readonly string[]): Promise<LaggingReplica> {
    const manager = await jetstreamManager(broker.operator, { checkAPI: false, timeout });
    await manager.streams.add({ name, subjects: ['lagging'] });
    const replica = new LaggingReplica(broker, manager);
    await replica.receive(ids);
    return replica;
  }

  /** Adds further events to the copy. */
  async receive(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const messageHeaders = headers();
      messageHeaders.set('Nats-Msg-Id', id);
      await this.broker.operator.request('lagging', '{}', { headers: messageHeaders, timeout });
    }
  }

  /** Makes the gateway's next consumer read from this copy. Calls `onPlaced` when the consumer exists. */
  takeNextConsumer(
    stream: EventsStreamClient,
    onPlaced: () => Promise<void> = () => Promise.resolve(),
  ): void {
    jest.spyOn(stream, 'addConsumer').mockImplementationOnce(async (from) => {
      const consumer = await this.addConsumer(from);
      await onPlaced();
      return consumer;
    });
  }

  async delete(): Promise<void> {
    await this.manager.streams.delete(name);
  }

  private async addConsumer(from: number): Promise<Consumer> {
    const info = await this.manager.consumers.add(name, {
      name: nuid.next(),
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
    });
    return jetstream(this.broker.operator, { timeout }).consumers.getConsumerFromInfo(info);
  }
}

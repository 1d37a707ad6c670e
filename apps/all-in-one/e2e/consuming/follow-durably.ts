import { setTimeout as wait } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager, type Consumer } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { endWithEpoch, readEpoch, type EventRecord, type HandleEvent } from './event-stream.js';

interface Options {
  /** Of the consumer: all processes that use it share the events between them. */
  name: string;
  /** A subject: `events.platform.>`. For another one, take another name. */
  filter: string;
  /** An event that it throws at comes again. */
  handle: HandleEvent;
  signal: AbortSignal;
}

const weekMs = 7 * 24 * 3_600_000;

/** Hands on every event that is on the stream, also what came while nobody read, until the signal. */
export async function followDurably(connection: NatsConnection, options: Options): Promise<void> {
  const { handle, signal } = options;
  while (!signal.aborted) {
    try {
      const epoch = await readEpoch(connection);
      const consumer = await openConsumer(connection, { ...options, epoch });
      const messages = await consumer.consume({ max_messages: 100, abort_on_missing_resource: true });
      endWithEpoch(messages, { connection, epoch, signal });
      for await (const message of messages) {
        try {
          await handle(message.json<EventRecord>(), message.headers?.get('Nats-Msg-Id') ?? '');
          message.ack();
        } catch (error) {
          console.warn('an event could not be handled, and comes again', error);
          message.nak(1_000);
        }
      }
    } catch (error) {
      console.warn('events cannot be read at the moment', error);
    }
    await wait(1_000, undefined, { signal }).catch(() => undefined);
  }
}

/** The consumer of this epoch, made when it is not there. One of an epoch that is over ends by itself. */
async function openConsumer(
  connection: NatsConnection,
  { name, filter, epoch }: Options & { epoch: string },
): Promise<Consumer> {
  const durable = `${name}-${epoch}`;
  const manager = await jetstreamManager(connection);
  await manager.consumers.add('EVENTS', {
    durable_name: durable,
    filter_subject: filter,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(60_000), // in which a hundred events must be handled: what is not comes again
    max_ack_pending: 1_000,
    inactive_threshold: nanos(weekMs), // by then what it has not read has left the stream
  });
  return jetstream(connection).consumers.get('EVENTS', durable);
}

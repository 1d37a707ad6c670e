import { setTimeout as wait } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager, type Consumer } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import type { EventRecord } from './event-record.js';
import { endWithEpoch, readEpoch, type HandleEvent } from './event-stream.js';

interface Options {
  /** Name of the consumer. All processes that use the same name share the events. */
  name: string;
  /** A subject, such as `events.platform.>`. Use another name for another filter. */
  filter: string;
  /** When this function throws, the event is delivered again. */
  handle: HandleEvent;
  signal: AbortSignal;
}

const weekMs = 7 * 24 * 3_600_000;

/** Handles every event on the stream, including those that arrived while no process read, until the signal aborts. */
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
          console.warn('cannot handle an event, retrying in 1 s', error);
          message.nak(1_000);
        }
      }
    } catch (error) {
      console.warn('cannot read events, retrying in 1 s', error);
    }
    await wait(1_000, undefined, { signal }).catch(() => undefined);
  }
}

/** Opens the consumer of this epoch, and creates it if necessary. The consumers of earlier epochs expire. */
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
    ack_wait: nanos(60_000), // handle 100 events within this time, or NATS delivers the rest again
    max_ack_pending: 1_000,
    inactive_threshold: nanos(weekMs), // the stream's default retention: older events are gone anyway
  });
  return jetstream(connection).consumers.get('EVENTS', durable);
}

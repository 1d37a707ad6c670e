import { setTimeout as wait } from 'node:timers/promises';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { endWithEpoch, readEpoch, type EventRecord, type HandleEvent } from './event-stream.js';
import { RecentIds } from './recent-ids.js';

/** Hands on what comes from now on, until the signal. The filter is a subject: `events.platform.channel-raid.>`. */
export async function followLive(
  connection: NatsConnection,
  options: { filter: string; handle: HandleEvent; signal: AbortSignal },
): Promise<void> {
  const { filter, handle, signal } = options;
  const recent = new RecentIds();
  while (!signal.aborted) {
    try {
      const epoch = await readEpoch(connection);
      const consumer = await jetstream(connection).consumers.get('EVENTS', {
        filter_subjects: filter,
        deliver_policy: DeliverPolicy.New,
      });
      const messages = await consumer.consume();
      endWithEpoch(messages, { connection, epoch, signal });
      for await (const message of messages) {
        const id = message.headers?.get('Nats-Msg-Id') ?? '';
        if (recent.add(id)) await handle(message.json<EventRecord>(), id);
      }
    } catch (error) {
      console.warn('events cannot be read at the moment', error);
    }
    await wait(1_000, undefined, { signal }).catch(() => undefined);
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { EventRecord } from './event-record.js';
import { endWithEpoch, readEpoch, type HandleEvent } from './event-stream.js';
import { RecentIds } from './recent-ids.js';

/** Handles new events until the signal aborts. The filter is a subject, such as `events.platform.channel-raid.>`. */
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
      console.warn('cannot read events, retrying in 1 s', error);
    }
    await wait(1_000, undefined, { signal }).catch(() => undefined);
  }
}

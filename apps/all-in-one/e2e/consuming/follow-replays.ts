import type { NatsConnection } from '@nats-io/transport-node';
import type { EventRecord } from './event-record.js';
import type { HandleEvent } from './event-stream.js';

/** Handles replays until the connection closes. A disconnected program misses replays, because they are not stored. */
export async function followReplays(connection: NatsConnection, handle: HandleEvent): Promise<void> {
  for await (const message of connection.subscribe('live.replay.>')) {
    // This replay is only for the live connections of one name.
    if (message.headers?.has('Connection-Name')) continue;
    await handle(message.json<EventRecord>(), message.headers?.get('Nats-Msg-Id') ?? '');
  }
}

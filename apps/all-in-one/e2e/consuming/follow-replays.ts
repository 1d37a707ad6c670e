import type { NatsConnection } from '@nats-io/transport-node';
import type { EventRecord, HandleEvent } from './event-stream.js';

/** Hands on events that go out once more, until the connection closes. Nothing keeps them for who is away. */
export async function followReplays(connection: NatsConnection, handle: HandleEvent): Promise<void> {
  for await (const message of connection.subscribe('live.replay.>')) {
    // Some are meant for the live connections of a name only.
    if (message.headers?.has('Connection-Name')) continue;
    await handle(message.json<EventRecord>(), message.headers?.get('Nats-Msg-Id') ?? '');
  }
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import { eventsStreamName } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { WebSocketServer } from 'ws';

// `BenchBed` forks this module. It delivers live events without the service: reads the same stream and sends each event to each client with
// plain `ws`. No tokens, filters, positions, or limits.

const [natsUrl = ''] = process.argv.slice(2);
const connection = await connectNats({ urls: [natsUrl], name: 'bare-server', account: 'EVENTS' });
const consumer = await jetstream(connection).consumers.get(eventsStreamName, {
  deliver_policy: DeliverPolicy.New,
  inactive_threshold: 60_000,
});

const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port); // Safe cast: the server listens on TCP
});
process.once('disconnect', () => process.exit());

for await (const message of await consumer.consume({ max_messages: 256 })) {
  // Send bytes: `ws` would encode text again for each client. Copy them, because they can wait in buffers.
  const record = Buffer.from(message.data);
  for (const client of sockets.clients) client.send(record, { binary: false });
}

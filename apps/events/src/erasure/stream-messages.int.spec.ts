import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ingestStreamName, ingestSubject, natsUsers } from '@stream-events/contracts';
import { closeNats, connectNats, LaggingServerError } from '@stream-events/messaging';
import { startTestNats, type TestNats } from '@stream-events/testing';
import { startNextConsumerAt } from '../../test/lagging-consumer.js';
import { StreamMessages } from './stream-messages.js';

const count = 500;

describe(StreamMessages.name, () => {
  let nats: TestNats;
  let proxy: Server;
  let connection: NatsConnection;
  /** How many more bytes the proxy forwards before it breaks the connection. */
  let bytesLeft: number;

  beforeAll(async () => {
    nats = await startTestNats([natsUsers.events, natsUsers.gateway]);
    bytesLeft = Number.POSITIVE_INFINITY;
    const url = new URL(nats.urlFor('events'));
    const upstream = Number(url.port);
    proxy = createServer((client) => {
      const server = connect(upstream, '127.0.0.1');
      for (const socket of [client, server]) socket.on('error', () => undefined); // the other end closes, too
      client.pipe(server);
      server.on('data', (chunk) => {
        bytesLeft -= chunk.length;
        if (bytesLeft > 0) return void client.write(chunk);
        bytesLeft = Number.POSITIVE_INFINITY;
        client.destroy();
        server.destroy();
      });
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    url.port = String((proxy.address() as AddressInfo).port);
    connection = await connectNats({ urls: [url.href], name: 'test' });
    const { streams } = await jetstreamManager(connection, { timeout: 20_000 });
    await streams.add({ name: ingestStreamName, subjects: [ingestSubject] });
    const publisher = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test' });
    // A busy machine may exceed the client's default of 1 s.
    await Promise.all(
      Array.from({ length: count }, () =>
        publisher.request(ingestSubject, new Uint8Array(1_000), { timeout: 30_000 }),
      ),
    );
    await closeNats(publisher);
  });
  afterAll(async () => {
    await closeNats(connection);
    proxy.close();
    await nats.stop();
  });

  it.each([
    ['some', 50_000, 1],
    ['all', 1_000, count - 100],
  ])(
    'does not skip messages when %s messages of a fetch were lost with the connection',
    async (_, bytes, from) => {
      const sut = new StreamMessages(connection, ingestStreamName);
      bytesLeft = bytes;

      await expect(sut.read({ from, until: count }, count)).rejects.toThrow('were lost in transit');

      const messages = await sut.read({ from: 1, until: count }, count);
      expect(messages.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: count }, (_, index) => index + 1),
      );
    },
  );

  it.each([
    ['lacks the messages', count + 1],
    ['gets earlier messages first', 100],
  ])('does not skip messages when the consumer is on a server that %s', async (_, start) => {
    const sut = new StreamMessages(connection, ingestStreamName);
    startNextConsumerAt(connection, start);

    await expect(sut.read({ from: 400, until: count }, count)).rejects.toThrow(LaggingServerError);

    expect(await sut.read({ from: 400, until: count }, count)).toHaveLength(count - 399);
  });

  it('returns nothing when the stream has no messages up to the given sequence', async () => {
    const sut = new StreamMessages(connection, ingestStreamName);

    expect(await sut.read({ from: count + 1, until: count + 10 }, count)).toEqual([]);
    // A message after the given sequence may be newer than the consumer.
    startNextConsumerAt(connection, count + 1);
    expect(await sut.read({ from: 400, until: 399 }, count)).toEqual([]);
  });
});

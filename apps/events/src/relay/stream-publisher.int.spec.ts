import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inboxPrefix, natsUsers } from '@stream-events/contracts';
import { startEmbeddedNats, type EmbeddedNats } from '@stream-events/embedded';
import { closeNats, connectNats } from '@stream-events/messaging';
import { createGuardedDirectory, freePort, type GuardedDirectory } from '@stream-events/testing';
import { newEvent } from '../../test/new-event.js';
import { streamOptions } from '../../test/stream-setup.js';
import { EventsStream } from './events-stream.js';
import { StreamFilesGoneError, StreamPublisher } from './stream-publisher.js';

describe(StreamPublisher.name, () => {
  let directory: GuardedDirectory;
  let nats: EmbeddedNats;

  beforeAll(async () => {
    directory = await createGuardedDirectory();
    const binary = process.env.TEST_NATS_BINARY;
    nats = await startEmbeddedNats({
      directory: directory.path,
      users: Object.values(natsUsers),
      log: () => undefined,
      port: await freePort(),
      // Else it might be fetched from the network.
      ...(binary === undefined ? {} : { binary }),
    });
  });
  afterAll(async () => {
    await nats.stop();
    await directory.remove();
  });

  it('tells when the broker has lost the files of the stream, which it finds out at the next one', async () => {
    const connection = await connectNats({ urls: [nats.urlFor('events')], name: 'test', account: 'EVENTS' });
    await (await EventsStream.open(connection, streamOptions)).create('00000000');
    const publisher = new StreamPublisher(connection, inboxPrefix('events.events'));
    const large = (count: number) =>
      Array.from({ length: count }, () => ({
        ...newEvent({ eventData: JSON.stringify({ text: 'x'.repeat(500_000) }) }),
        broadcasterUserId: null,
      }));
    await publisher.publish(large(1));
    // The broker may write into it meanwhile.
    const files = join(directory.path, 'nats/jetstream/jetstream/EVENTS/streams/EVENTS');
    await rm(files, { recursive: true, maxRetries: 10 });

    // A file holds 8 MiB.
    await expect(publisher.publish(large(20))).rejects.toThrow(StreamFilesGoneError);

    publisher.close();
    await closeNats(connection);
  });
});

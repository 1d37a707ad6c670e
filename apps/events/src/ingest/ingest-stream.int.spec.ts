import { ingestStreamName, ingestSubject } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { ingestOptions, IngestSetup } from '../../test/ingest-setup.js';
import { IngestStream } from './ingest-stream.js';

let setup: IngestSetup;
beforeAll(async () => {
  setup = await IngestSetup.start();
});
afterAll(() => setup.close());
beforeEach(() => setup.deleteStream());

const gigabyte = 1024 ** 3;

function createStream(options: Partial<typeof ingestOptions> = {}): IngestStream {
  return new IngestStream(setup.connection, { ...ingestOptions, ...options });
}

async function readConfig() {
  const { streams } = await setup.manager();
  return (await streams.info(ingestStreamName)).config;
}

describe(IngestStream.name, () => {
  describe('prepare', () => {
    it('creates the stream once when several instances start at the same time', async () => {
      await Promise.all(Array.from({ length: 5 }, () => createStream().prepare()));

      expect(await readConfig()).toMatchObject({
        subjects: ['ingest.events'],
        storage: 'file',
        retention: 'workqueue',
        discard: 'new',
        max_bytes: gigabyte,
        duplicate_window: 120 * 1e9,
        description: 'ingest of platform simulator',
      });
    });

    it('rejects the stream of another platform and leaves it unchanged', async () => {
      await createStream().prepare();
      const before = await readConfig();

      const refused = createStream({ platform: 'twitch', maxGigabytes: 2 }).prepare();

      await expect(refused).rejects.toThrow(/"ingest of platform simulator", but PLATFORM is twitch/);
      expect(await readConfig()).toEqual(before);
    });

    it('updates the limit, and lowers it only when no message would be dropped', async () => {
      await createStream({ maxGigabytes: 2 }).prepare();
      await setup.publish('x');

      await createStream({ maxGigabytes: 1 }).prepare();
      expect((await readConfig()).max_bytes).toBe(2 * gigabyte);
      await createStream({ maxGigabytes: 3 }).prepare();
      expect((await readConfig()).max_bytes).toBe(3 * gigabyte);
      await (await setup.manager()).streams.deleteMessage(ingestStreamName, 1);
      await createStream({ maxGigabytes: 1 }).prepare();

      expect((await readConfig()).max_bytes).toBe(gigabyte);
      expect(await setup.count()).toBe(0);
    });
  });

  describe('publishing from the gateway', () => {
    it('stores a message id once', async () => {
      await createStream().prepare();

      expect(await setup.publish('x', 'id-1')).not.toHaveProperty('duplicate');
      expect(await setup.publish('x', 'id-1')).toMatchObject({ duplicate: true });

      expect(await setup.count()).toBe(1);
    });

    it.each(['gateway', 'platform-connector'])(
      'lets the acknowledgement of a message from %s purge nothing',
      async (user) => {
        await createStream().prepare();
        await setup.publish('waiting');
        const connection = await connectNats({ urls: [setup.nats.urlFor(user)], name: user });

        connection.publish(ingestSubject, 'x', { reply: `$JS.API.STREAM.PURGE.${ingestStreamName}` });
        await connection.request(ingestSubject, 'y', { timeout: 20_000 });

        // The stream handles messages in order, and the API handles requests in order, so this count is later than the purge.
        expect(await setup.count()).toBe(3);
        await connection.close();
      },
    );

    it('rejects messages beyond its limit, and accepts them when they are sent again later', async () => {
      await createStream().prepare();
      await setup.limitMessages(1);
      await setup.publish('x', 'id-1');

      expect(await setup.publish('y', 'id-2')).toHaveProperty('error');
      expect(await setup.count()).toBe(1);
      await setup.limitMessages(-1);
      expect(await setup.publish('y', 'id-2')).not.toHaveProperty('duplicate');

      expect(await setup.count()).toBe(2);
    });
  });
});

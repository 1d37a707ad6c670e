import { DiscardPolicy, jetstreamManager, type StreamAPI, type StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { inboxPrefix, natsUsers } from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { connectNats } from './connection.js';
import {
  AcknowledgementTimeoutError,
  StreamPublisher,
  StreamUnreachableError,
  type OutgoingMessage,
} from './stream-publisher.js';

const name = 'EVENTS';
const subject = 'events.test.x._';
const account = 'EVENTS';
// A busy machine may exceed the default of 5 s.
const options = { inboxPrefix: inboxPrefix('events.events'), timeoutMs: 30_000 };

let nats: TestNats;
let connection: NatsConnection;
let streams: StreamAPI;
let publisher: StreamPublisher;
let lastId = 0;

beforeAll(async () => {
  nats = await startTestNats(Object.values(natsUsers));
  connection = await connectNats({ urls: [nats.urlFor('events')], name: 'test', account });
  streams = (await jetstreamManager(connection, { timeout: 20_000 })).streams;
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});
beforeEach(() => {
  publisher = new StreamPublisher(connection, options);
});
afterEach(async () => {
  publisher.close();
  await streams.delete(name).catch(() => undefined); // a test may have no stream
});

/** Retries, because nats-server 2.15 may still be deleting the files of the stream that the test before deleted. */
async function addStream(config: Partial<StreamConfig> = {}): Promise<void> {
  await eventually(() => streams.add({ name, subjects: ['events.>'], ...config }));
}

function newMessages(count: number, overrides: Partial<OutgoingMessage> = {}): OutgoingMessage[] {
  return Array.from({ length: count }, () => {
    lastId += 1;
    return { subject, messageId: String(lastId), payload: '{}', ...overrides };
  });
}

describe(StreamPublisher.name, () => {
  describe('publish', () => {
    it('stores every message with its id and headers', async () => {
      await addStream();
      const [message] = newMessages(1, { payload: 'é', headers: { 'Occurred-At': 'then' } });

      await publisher.publish([message!]);

      const stored = await streams.getMessage(name, { seq: 1 });
      expect(stored?.string()).toBe('é');
      expect(stored?.header.get('Nats-Msg-Id')).toBe(message!.messageId);
      expect(stored?.header.get('Occurred-At')).toBe('then');
    });

    it('returns the highest sequence of a batch, also when its messages were on the stream before', async () => {
      await addStream();
      const messages = newMessages(300);

      expect(await publisher.publish(messages)).toBe(300);
      await publisher.publish(newMessages(1));

      expect(await publisher.publish(messages)).toBe(300);
      expect((await streams.info(name)).state.messages).toBe(301);
    });

    it('keeps batches apart that are in flight at the same time', async () => {
      await addStream();

      const last = await Promise.all([1, 2, 3].map((count) => publisher.publish(newMessages(count))));

      expect(last.sort()).toEqual([1, 3, 6]);
    });

    it('throws StreamUnreachableError when no stream has the subject', async () => {
      const publishing = publisher.publish(newMessages(2));

      await expect(publishing).rejects.toThrow(StreamUnreachableError);
      await expect(publishing).rejects.toThrow(/there is no stream for its subject/);
    });

    it('throws the reason of the broker when the stream refuses a message', async () => {
      await addStream({ max_msgs: 1, discard: DiscardPolicy.New });

      await expect(publisher.publish(newMessages(2))).rejects.toThrow(
        /the stream rejected a message: .*maximum messages exceeded/,
      );
    });

    it('throws AcknowledgementTimeoutError when an acknowledgement is missing after the time limit', async () => {
      await addStream({ no_ack: true });
      const impatient = new StreamPublisher(connection, { ...options, timeoutMs: 50 });

      const publishing = impatient.publish(newMessages(3));

      await expect(publishing).rejects.toThrow(AcknowledgementTimeoutError);
      await expect(publishing).rejects.toThrow(
        'the stream did not acknowledge a batch of 3 message(s) within 50 ms',
      );
      impatient.close();
    });

    it('throws for a message above the limit of the broker, and keeps working', async () => {
      await addStream();

      await expect(publisher.publish(newMessages(1, { payload: 'x'.repeat(2_000_000) }))).rejects.toThrow(
        /max_payload/i,
      );

      expect(await eventually(() => publisher.publish(newMessages(1)))).toBe(1);
    });

    it('returns 0 for an empty batch', async () => {
      expect(await publisher.publish([])).toBe(0);
    });
  });

  it.each<[string, (publisher: StreamPublisher) => void, string]>([
    ['abandoned', (sut) => sut.abandon('the connection is lost'), 'the connection is lost'],
    ['closed', (sut) => sut.close(), 'the publisher is closed'],
  ])('fails every batch that is not acknowledged yet when it is %s', async (_, end, reason) => {
    const publishing = [publisher.publish(newMessages(1)), publisher.publish(newMessages(2))];

    end(publisher);

    for (const batch of publishing) await expect(batch).rejects.toThrow(reason);
  });
});

import { DiscardPolicy, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  ingestStreamName,
  ingestSubject,
  natsUsers,
  parseIngestMessage,
  type NewEvent,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { IngestPublisher } from './ingest-publisher.js';

let nats: TestNats;
let operator: NatsConnection;
let publisher: IngestPublisher;

beforeAll(async () => {
  const anything = { ...natsUsers.gateway, name: 'operator', publish: ['>'], subscribe: ['>'] };
  const stranger = { ...natsUsers.gateway, name: 'stranger', publish: [], subscribe: ['_INBOX_stranger.>'] };
  nats = await startTestNats([natsUsers.gateway, anything, stranger]);
  operator = await connectNats({ urls: [nats.urlFor('operator')], name: 'operator' });
  publisher = new IngestPublisher({ urls: [nats.urlFor('gateway')], name: 'gateway' });
  await publisher.connect();
});
afterAll(async () => {
  await Promise.all([publisher.close(), operator.close()]);
  await nats.stop();
});
afterEach(async () => {
  await (await streams()).delete(ingestStreamName).catch(() => undefined); // some tests create no stream
});

function newEvent(overrides: Partial<NewEvent> = {}): NewEvent {
  return {
    id: uuidV7(),
    eventId: uuidV7(),
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{"user_id":"1"}',
    idempotencyKey: null,
    ...overrides,
  };
}

async function streams() {
  return (await jetstreamManager(operator, { checkAPI: false, timeout: 20_000 })).streams;
}

async function addStream(max_msgs = -1): Promise<void> {
  const config = { name: ingestStreamName, subjects: [ingestSubject], discard: DiscardPolicy.New, max_msgs };
  await (await streams()).add(config);
}

async function readStream(): Promise<NewEvent[]> {
  const all = await streams();
  const { state } = await all.info(ingestStreamName);
  const messages = await Promise.all(
    Array.from({ length: state.messages }, (_, index) =>
      all.getMessage(ingestStreamName, { seq: index + 1 }),
    ),
  );
  return messages.flatMap((message) => (message ? [parseIngestMessage(message.data)] : []));
}

/** Publishes an event, and retries after each failure, as the platform does. The stream drops the duplicates. */
function put(event = newEvent()): Promise<void> {
  return eventually(() => publisher.publish(event));
}

/** Publishes an event, and returns why that failed and how long it took. */
async function refusal(event = newEvent(), by = publisher): Promise<{ reason: string; elapsedMs: number }> {
  const startedAt = performance.now();
  const reason = await by.publish(event).then(
    () => 'accepted',
    (error: unknown) => String(error),
  );
  return { reason, elapsedMs: performance.now() - startedAt };
}

describe(IngestPublisher.name, () => {
  it('publishes events unchanged', async () => {
    await addStream();
    const events = [newEvent(), newEvent({ eventData: '{"text":"é\\ud800\\n"}', eventId: 'a\r\nb é' })];

    for (const event of events) await put(event);

    expect(await readStream()).toEqual(events);
  });

  it('publishes a redelivered platform message once', async () => {
    await addStream();
    const first = newEvent({ eventId: 'message-1' });

    await Promise.all([put(first), put(newEvent({ eventId: 'message-2' }))]);
    await put(newEvent({ eventId: 'message-1' }));

    expect((await readStream()).map(({ eventId }) => eventId).sort()).toEqual(['message-1', 'message-2']);
    expect(await readStream()).toContainEqual(first);
  });

  it('fails immediately when the stream is full, and says so', async () => {
    await addStream(1);

    // The first event fills the stream. Do not wait until it is accepted: if its acknowledgement is late, no further event is accepted.
    await eventually(async () => {
      const { reason, elapsedMs } = await refusal();
      expect(reason).toMatch(/maximum messages exceeded/);
      expect(elapsedMs).toBeLessThan(1_000);
    });
  });

  it('fails immediately when there is no stream', async () => {
    await eventually(async () => {
      const { reason, elapsedMs } = await refusal();
      expect(reason).toMatch(/there is no stream/);
      expect(elapsedMs).toBeLessThan(1_000);
    });
  });

  it('fails for an event above the broker’s limit, and accepts the next one', async () => {
    await addStream();

    expect((await refusal(newEvent({ eventData: 'x'.repeat(2_000_000) }))).reason).toMatch(/max_payload/i);

    await put();
  });

  it('waits 2 s for an acknowledgement, with at most 32 MiB unacknowledged', async () => {
    // Use a separate connection: this subscriber receives all 32 MiB, which would delay the operator's own requests.
    const silence = await connectNats({ urls: [nats.urlFor('operator')], name: 'silence' });
    silence.subscribe(ingestSubject, { callback: () => undefined });
    await silence.flush();
    const large = newEvent({ eventData: 'x'.repeat(1_000_000) });

    const refused = await Promise.all(Array.from({ length: 40 }, () => refusal(large)));

    const waited = refused.filter(({ reason }) => reason.includes('did not acknowledge'));
    expect(waited).toHaveLength(33);
    for (const { elapsedMs } of waited) expect(elapsedMs).toBeGreaterThan(1_500);
    for (const refusal of refused) if (!waited.includes(refusal)) expect(refusal.reason).toMatch(/too slow/);
    // The circuit is open now, so only one probe per second waits.
    await eventually(async () => {
      const { reason, elapsedMs } = await refusal(large);
      expect(reason).toMatch(/does not reply/);
      expect(elapsedMs).toBeLessThan(1_000);
    });
    await silence.close();
    await addStream();
    await put(large);
  });

  it('fails immediately when the user may not publish, and says so, for every event', async () => {
    await addStream();
    const stranger = new IngestPublisher({ urls: [nats.urlFor('stranger')], name: 'stranger' });
    await stranger.connect();

    for (let attempt = 0; attempt < 3; attempt += 1) {
      await eventually(async () => {
        const { reason, elapsedMs } = await refusal(newEvent(), stranger);
        expect(reason).toMatch(/permissions violation for publish to "ingest.events"/i);
        expect(elapsedMs).toBeLessThan(1_000);
      });
    }
    await stranger.close();
  });

  it('waits for the acknowledgements of messages in flight when it closes', async () => {
    await addStream();
    const closing = new IngestPublisher({ urls: [nats.urlFor('gateway')], name: 'gateway' });
    await closing.connect();
    const events = Array.from({ length: 20 }, () => newEvent());

    const published = Promise.allSettled(events.map((event) => closing.publish(event)));
    const startedAt = performance.now();
    await closing.close();
    const hasWaitedToItsLimit = performance.now() - startedAt >= 1_000;

    const confirmed = (await published).filter(({ status }) => status === 'fulfilled');
    // On a very slow machine, acknowledgements can arrive after `close` has waited its full 1 s.
    expect(confirmed.length).toBeGreaterThanOrEqual(hasWaitedToItsLimit ? 1 : events.length);
    await eventually(async () => expect(await readStream()).toHaveLength(20));
  });

  // Keep this test last: it kills the broker.
  it('fails immediately while NATS is disconnected, buffers nothing, and continues after the reconnect', async () => {
    await addStream();
    await nats.kill();
    await eventually(async () => {
      const { reason, elapsedMs } = await refusal();
      expect(reason).toMatch(/NATS is not connected/);
      expect(elapsedMs).toBeLessThan(100);
    });

    await nats.restart();
    const event = newEvent();
    await put(event);

    await eventually(async () => expect(await readStream()).toEqual([event]));
  });
});

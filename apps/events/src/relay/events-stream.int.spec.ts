import { jetstream } from '@nats-io/jetstream';
import { inboxPrefix, printEventRecord, toEventMessage } from '@stream-events/contracts';
import { connectNats, ConsumerGate, StreamPublisher } from '@stream-events/messaging';
import { FailureLog } from '@stream-events/service';
import { newEvent } from '../../test/new-event.js';
import { StreamSetup } from '../../test/stream-setup.js';
import { EventsStream, ForeignStreamError } from './events-stream.js';

let setup: StreamSetup;
let stream: EventsStream;
beforeAll(async () => {
  setup = await StreamSetup.start();
  stream = await setup.openStream();
});
afterAll(() => setup.close());
beforeEach(async () => {
  await setup.deleteStream();
});

const epoch = '1a2b3c4d';
const day = 24 * 3_600 * 1e9;

async function publish(...overrides: Parameters<typeof newEvent>[0][]) {
  const publisher = new StreamPublisher(setup.connection, {
    inboxPrefix: inboxPrefix('events.events'),
    timeoutMs: 20_000,
  });
  const events = overrides.map((override) => ({
    ...newEvent(override),
    broadcasterUserId: '4711',
    raidToId: null,
  }));
  const lastSequence = await publisher.publish(events.map(toEventMessage)).finally(() => publisher.close());
  return { events, lastSequence };
}

describe(EventsStream.name, () => {
  it('is created with its retention, its platform and its epoch', async () => {
    expect(await stream.find()).toBeUndefined();

    await stream.create(epoch);

    expect((await setup.readInfo()).config).toMatchObject({
      description: 'events of platform simulator, epoch 1a2b3c4d',
      subjects: ['events.>'],
      storage: 'file',
      retention: 'limits',
      discard: 'old',
      max_age: 7 * day,
      max_bytes: 1024 ** 3,
      duplicate_window: 120 * 1e9,
    });
    expect(await stream.find()).toEqual({
      epoch,
      lastSequence: 0,
      lastMessageAt: undefined,
      replicas: 'none',
    });
  });

  it('returns its last sequence, and the event at each sequence', async () => {
    await stream.create(epoch);
    const { events } = await publish({}, {});

    const state = await stream.find();

    expect(state).toMatchObject({ lastSequence: 2 });
    expect(Math.abs(Date.now() - (state?.lastMessageAt ?? 0))).toBeLessThan(30_000);
    expect(await stream.readMessageId(2)).toBe(events[1]?.id);
    expect(await stream.readMessageId(3)).toBeUndefined();
  });

  it("takes a new epoch and retention, and keeps its messages and an operator's settings", async () => {
    await stream.create(epoch);
    await publish({});
    await setup.limitMessages(12_345);

    await (await setup.openStream({ maxAgeMs: (day / 1e6) * 3, maxGigabytes: 2 })).update('00000001');

    const { config, state } = await setup.readInfo();
    expect(config).toMatchObject({
      description: 'events of platform simulator, epoch 00000001',
      max_age: 3 * day,
      max_bytes: 2 * 1024 ** 3,
      duplicate_window: 120 * 1e9,
      max_msgs: 12_345,
    });
    expect(state.messages).toBe(1);
  });

  it('is rejected when it belongs to another platform', async () => {
    await stream.create(epoch);

    const finding = (await setup.openStream({ platform: 'twitch' })).find();

    await expect(finding).rejects.toThrow(ForeignStreamError);
    await expect(finding).rejects.toThrow(
      /"events of platform simulator, epoch 1a2b3c4d", but PLATFORM is twitch/,
    );
  });

  it('throws the error of a broker that cannot create it', async () => {
    const refused = (await setup.openStream({ maxGigabytes: 10_000_000 })).create(epoch);

    await expect(refused).rejects.toThrow(/insufficient storage/);
  });
});

describe(toEventMessage.name, () => {
  it('can be read by a subscriber with its own NATS user, filtered by subject', async () => {
    await stream.create(epoch);
    const { events } = await publish({ eventType: 'channel-follow' }, { eventType: 'channel-raid' });
    const services = await connectNats({ urls: [setup.nats.urlFor('events')], name: 'gate' });
    const log = new FailureLog({ info: () => undefined, warn: () => undefined });
    const gate = new ConsumerGate({ services, events: setup.connection, log });
    gate.start();
    await services.flush();
    const subscriber = await connectNats({ urls: [setup.nats.urlFor('subscriber')], name: 'subscriber' });

    const consumer = await jetstream(subscriber, { timeout: 20_000 }).consumers.get('EVENTS', {
      filter_subjects: 'events.platform.channel-raid.>',
    });
    const message = await consumer.next();

    expect(message?.string()).toBe(events[1] && printEventRecord(events[1]));
    expect(message?.headers?.get('Nats-Msg-Id')).toBe(events[1]?.id);
    await subscriber.close();
    await gate.stop();
    await services.close();
  });
});

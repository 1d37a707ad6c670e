import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { NewEvent } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { EventStore } from '../../test/event-store.js';
import { IngestSetup, ingestOptions, type RunningDrain } from '../../test/ingest-setup.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import { IngestDrain } from './ingest-drain.service.js';
import { IngestStream } from './ingest-stream.js';

let store: EventStore;
let setup: IngestSetup;
let drains: RunningDrain[];

beforeAll(async () => {
  [store, setup] = await Promise.all([EventStore.create(), IngestSetup.start()]);
});
afterAll(async () => {
  await Promise.all([store.close(), setup.close()]);
});
beforeEach(async () => {
  drains = [];
  setup.ackWaitMs = 30_000;
  await store.clear();
  await setup.deleteStream();
  await new IngestStream(setup.connection, ingestOptions).prepare();
});
afterEach(async () => {
  await Promise.all(drains.map((drain) => drain.stop()));
});

async function startDrain(): Promise<RunningDrain> {
  const drain = await setup.createDrain(store);
  drains.push(drain);
  drain.drain.start();
  return drain;
}

// The broker redelivers messages of a stalled process after 30 s, so wait longer than that.
const redeliveredMs = 60_000;
jest.setTimeout(4 * redeliveredMs);

const untilEmpty = (): Promise<void> =>
  eventually(async () => expect(await setup.count()).toBe(0), { timeoutMs: redeliveredMs });

async function metricOf({ metrics }: RunningDrain, name: string): Promise<number | undefined> {
  return (await metrics.getSingleMetric(name)?.get())?.values[0]?.value;
}

const idsOf = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id).sort();

describe(IngestDrain.name, () => {
  it('stores waiting messages, passes them to the relay, and removes them from the stream', async () => {
    const events = newEvents(250, { eventData: '{"n":1.10}' });
    await setup.publishEvents(events);

    const drain = await startDrain();
    await untilEmpty();

    expect(await store.storedIds()).toEqual(idsOf(events));
    expect(idsOf(store.handedToRelay.flatMap((batch) => [...batch.events]))).toEqual(idsOf(events));
    expect(await metricOf(drain, 'events_ingest_drained_total')).toBe(250);
  });

  it('stores messages that arrive while it waits', async () => {
    await startDrain();
    for (let round = 0; round < 3; round += 1) {
      const event = newEvent();
      await setup.publishEvents([event]);
      await eventually(async () => expect(await store.storedIds()).toContain(event.id), {
        timeoutMs: redeliveredMs,
      });
    }
  });

  it('stores messages that are too big to fetch together', async () => {
    const events = newEvents(20, { eventData: JSON.stringify({ text: 'x'.repeat(500_000) }) });
    await setup.publishEvents(events);

    await startDrain();
    await untilEmpty();

    expect(await store.storedIds()).toEqual(idsOf(events));
  });

  it('shares the work with other instances, and each message becomes one event', async () => {
    const events: NewEvent[] = [];
    const both = await Promise.all([startDrain(), startDrain()]);
    const countDrained = (): Promise<number[]> =>
      Promise.all(both.map(async (drain) => (await metricOf(drain, 'events_ingest_drained_total')) ?? 0));
    // One drain may store everything while the other is between two fetches, so publish until both have worked.
    await eventually(
      async () => {
        const more = newEvents(1_000);
        events.push(...more);
        await setup.publishEvents(more);
        expect(Math.min(...(await countDrained()))).toBeGreaterThan(0);
      },
      { timeoutMs: redeliveredMs },
    );
    await untilEmpty();

    expect(await store.storedIds()).toEqual(idsOf(events));
    expect((await countDrained()).reduce((sum, count) => sum + count)).toBe(events.length);
  });

  it('keeps every message while the store is unavailable, without spinning, and continues afterwards', async () => {
    const events = newEvents(150);
    await setup.publishEvents(events);
    await store.dataSource.query('ALTER TABLE outbox RENAME TO outbox_away');
    const startedAt = performance.now();
    let tries = 0;
    const { writer } = store;
    const ask = writer.store.bind(writer);
    writer.store = (batch) => ((tries += 1), ask(batch));

    await startDrain();
    await eventually(() => expect(tries).toBeGreaterThan(2));
    expect(performance.now() - startedAt).toBeGreaterThan(1_100); // 0.5 s and 1 s, each at most a quarter shorter
    expect(await setup.count()).toBe(150);
    await store.dataSource.query('ALTER TABLE outbox_away RENAME TO outbox');
    writer.store = ask;
    await untilEmpty();

    expect(await store.storedIds()).toEqual(idsOf(events));
    expect(await store.count('dead_letters')).toBe(0);
  });

  it('stores a message once when an instance died between storing and acknowledging', async () => {
    const event = newEvent({ eventId: 'message-1' });
    await setup.publishEvents([event]);
    const [message] = await setup.deliver(1);
    await store.writer.store([event]);
    message?.nak(); // the broker does this when the acknowledgement is late

    await startDrain();
    await untilEmpty();

    expect(await store.storedIds()).toEqual([event.id]);
    expect(store.handedToRelay).toHaveLength(1);
  });

  it('creates one event from a message that is on the stream twice or already stored', async () => {
    const copies = newEvents(3, { eventId: 'message-1' });
    const [first, ...rest] = copies;
    await store.writer.store(copies.slice(0, 1));
    await setup.publishEvents(rest);

    await startDrain();
    await untilEmpty();

    expect(await store.storedIds()).toEqual([first?.id]);
  });

  it('keeps each unreadable message as one dead letter, and stores the others', async () => {
    const events = newEvents(2);
    const odd = [
      Buffer.from('{"id":"x"}'),
      Buffer.from([0xff, 0, 0x7b]),
      Buffer.alloc(0),
      // For these payloads, the error of JSON.parse quotes the text.
      Buffer.from('\0'),
      Buffer.from('{"id":\0}'),
    ];
    await setup.publishEvents(events);
    for (const payload of [...odd, ...odd]) await setup.publish(payload);

    await startDrain();
    await untilEmpty();

    expect(await store.storedIds()).toEqual(idsOf(events));
    // Read the dead letters as an owner sees them.
    const { messages } = await store.deadLetters.list({ pageSize: 10 });
    const deadLetters = await Promise.all(messages.map(({ id }) => store.deadLetters.find(id)));
    expect(deadLetters.map((message) => message?.event.eventData).sort()).toEqual(
      odd.map((payload) => payload.toString()).sort(),
    );
    for (const message of deadLetters) expect(message?.event.eventType).toBe('unreadable-ingest-message');
  });

  it('stores the rest of a batch when one message keeps failing for an unknown reason', async () => {
    await store.dataSource.query(`
      CREATE FUNCTION curse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'cursed' USING ERRCODE = 'XX000';
      END $$;
      CREATE TRIGGER curse BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.event_type = 'cursed') EXECUTE FUNCTION curse()`);
    const [cursed, ...others] = newEvents(6);
    if (cursed) cursed.eventType = 'cursed';
    await setup.publishEvents([...(cursed ? [cursed] : []), ...others]);

    await startDrain();
    // The drain tries the whole batch five times, 2 to 6 s each.
    await eventually(async () => expect(await store.storedIds()).toEqual(idsOf(others)), {
      timeoutMs: 30_000 + redeliveredMs,
    });
    await eventually(async () => expect(await setup.count()).toBe(1));

    await store.dataSource.query('DROP FUNCTION curse CASCADE');
    await untilEmpty();
    expect(await store.count('events')).toBe(6);
  });

  it('keeps an event that the database rejects as a dead letter and stores the others', async () => {
    const [bad, ...good] = newEvents(5);
    if (bad) bad.eventData = '{';
    await setup.publishEvents([...(bad ? [bad] : []), ...good]);

    await startDrain();
    await untilEmpty();

    expect(await store.storedIds()).toEqual(idsOf(good));
    expect(await store.count('dead_letters')).toBe(1);
  });

  it('recreates the stream when it is lost', async () => {
    await startDrain();
    await setup.deleteStream();
    const event = newEvent();

    await eventually(() => setup.publishEvents([event]), { timeoutMs: redeliveredMs });
    await untilEmpty();

    expect(await store.storedIds()).toEqual([event.id]);
  });

  it('empties the stream after a crash of the broker that may have lost acknowledgements', async () => {
    const events = newEvents(40);
    setup.ackWaitMs = 5_000;
    await setup.publishEvents(events);
    const messages = await setup.deliver(events.length);
    await store.writer.store(events);
    for (const message of messages.slice(1)) message.ack();
    messages[0]?.nak(); // otherwise the broker would immediately remove the empty file
    await eventually(async () => expect(await setup.count()).toBe(1));

    await setup.nats.kill();
    await setup.nats.restart();
    await setup.reconnect();
    await startDrain();

    // If the acknowledgement was lost too, the broker redelivers the message after 5 s.
    await untilEmpty();
    expect(await store.storedIds()).toEqual(idsOf(events));
  });

  it('stops immediately while it waits for messages, and leaves later messages to other instances', async () => {
    const { drain, stop } = await startDrain();
    await eventually(async () => expect(await setup.countReaders()).toBe(1));
    // Shorter than the 3 s that a running batch has to finish. Many short pauses instead of one timer: if this process stalls, the stall
    // counts as only one of them.
    const late = (async () => {
      for (let pause = 0; pause < 28; pause += 1) await wait(100, undefined, { ref: false });
      return 'late';
    })();
    expect(await Promise.race([drain.stop().then(() => 'stopped'), late])).toBe('stopped');

    const event = newEvent();
    await setup.publishEvents([event]);
    await startDrain();
    await untilEmpty();

    expect(await store.storedIds()).toEqual([event.id]);
    await stop();
  });

  // This test must be the last one, because it kills the broker.
  it('counts the waiting messages, reports NaN while NATS is unavailable, and continues afterwards', async () => {
    const drain = await setup.createDrain(store);
    drains.push(drain);
    const events = newEvents(3);
    await setup.publishEvents(events);
    // The metric gives the broker 2 s.
    await eventually(async () => expect(await metricOf(drain, 'events_ingest_stream_messages')).toBe(3));

    await setup.nats.kill();
    expect(await metricOf(drain, 'events_ingest_stream_messages')).toBeNaN();
    drain.drain.start();
    await setup.nats.restart();
    await setup.reconnect();
    await untilEmpty();

    expect(await store.storedIds()).toEqual(idsOf(events));
  });
});

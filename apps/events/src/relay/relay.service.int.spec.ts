import { jest } from '@jest/globals';
import { printEventRecord, toEventMessage } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { EventStore } from '../../test/event-store.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import { StreamSetup, type RunningRelay } from '../../test/stream-setup.js';
import { OutboxRepository, type OutboxBatch } from './outbox.repository.js';
import { Relay } from './relay.service.js';

jest.setTimeout(240_000);

let store: EventStore;
let stream: StreamSetup;
let relays: RunningRelay[];

beforeAll(async () => {
  [store, stream] = await Promise.all([EventStore.create(), StreamSetup.start()]);
});
afterAll(async () => {
  await Promise.all([store.close(), stream.close()]);
});
beforeEach(async () => {
  relays = [];
  await store.clear();
  await stream.recreateStream();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(relays.map((relay) => relay.stop()));
});

async function createRelay(): Promise<RunningRelay> {
  const relay = await stream.createRelay(store);
  relays.push(relay);
  return relay;
}

/** Stores batches, as if the instance had died before publishing them. */
async function storeBatches(count: number, size: number): Promise<OutboxBatch[]> {
  for (let batch = 0; batch < count; batch += 1) await store.writer.store(newEvents(size));
  return store.handedToRelay.splice(0);
}

/** Ends all claims, as if ten seconds had passed. */
async function expireClaims(): Promise<void> {
  await store.dataSource.query("UPDATE outbox SET claimed_until = now() - interval '1 second'");
}

function idsOf(batches: readonly OutboxBatch[]): string[] {
  return batches.flatMap((batch) => batch.events.map((event) => event.id)).sort();
}

async function publishedIds(): Promise<string[]> {
  return (await stream.readStream()).map((message) => message.messageId).sort();
}

async function sumOf(instances: readonly RunningRelay[], name: string): Promise<number> {
  const counts = await Promise.all(instances.map((instance) => counter(instance, name)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function counter({ metrics }: RunningRelay, name: string): Promise<number> {
  return (await metrics.getSingleMetric(name)?.get())?.values[0]?.value ?? 0;
}

describe(Relay.name, () => {
  it('publishes each event once, as its record, under its id and subject, and marks the batch as published', async () => {
    const raid = newEvent({
      eventType: 'channel-raid',
      eventData: '{"broadcaster_user_id":"4711", "n":1.10}',
    });
    const test = newEvent({ eventType: 'a.b c', eventData: '{}', origin: 'test' });
    await store.writer.store([raid, test]);
    const { relay, ...running } = await createRelay();

    const outbox = new OutboxRepository(store.dataSource);
    expect(await outbox.holds(raid.id)).toBe(true);
    for (const batch of store.handedToRelay.splice(0)) relay.publish(batch);
    await eventually(async () => expect(await store.count('outbox')).toBe(0));
    expect(await outbox.holds(raid.id)).toBe(false);

    expect(await stream.readStream()).toEqual([
      { subject: 'events.platform.channel-raid.4711', messageId: raid.id, text: printEventRecord(raid) },
      { subject: 'events.test.a%2Eb%20c._', messageId: test.id, text: printEventRecord(test) },
    ]);
    expect(await counter({ relay, ...running }, 'events_published_total')).toBe(2);
  });

  it('names the raided channel in the subject of a raid, also of one claimed from the outbox', async () => {
    const eventData = '{"from_broadcaster_user_id":"1","to_broadcaster_user_id":"4711"}';
    const raids = [
      newEvent({ eventType: 'channel-raid', eventData }),
      newEvent({ eventType: 'raid', eventData }),
    ];
    await store.writer.store(raids.slice(0, 1));
    const [handedOver] = store.handedToRelay.splice(0);
    await store.writer.store(raids.slice(1));
    await store.dataSource.query('UPDATE outbox SET claimed_until = now() WHERE id <> $1', [
      handedOver?.outboxId,
    ]);
    const { relay } = await createRelay();

    relay.publish(handedOver!);
    relay.start();
    await eventually(async () => expect(await store.count('outbox')).toBe(0));

    expect((await stream.readStream()).map(({ subject }) => subject).sort()).toEqual([
      'events.platform.channel-raid.4711',
      'events.platform.raid.4711',
    ]);
  });

  it('adds the time when an event happened, also to an event claimed from the outbox', async () => {
    const events = [newEvent({ occurredAt: 1_764_000_000_123 }), newEvent({ occurredAt: 1_764_000_000_000 })];
    await store.writer.store(events.slice(0, 1));
    const [handedOver] = store.handedToRelay.splice(0);
    await store.writer.store(events.slice(1));
    await store.dataSource.query('UPDATE outbox SET claimed_until = now() WHERE id <> $1', [
      handedOver?.outboxId,
    ]);
    const { relay } = await createRelay();

    relay.publish(handedOver!);
    relay.start();
    await eventually(async () => expect(await store.count('outbox')).toBe(0));

    const published = await stream.readStream();
    expect(published.map(({ occurredAt }) => occurredAt).sort()).toEqual([
      '2025-11-24T16:00:00.000Z',
      '2025-11-24T16:00:00.123Z',
    ]);
  });

  it("does not claim batches until their writer's claim has ended", async () => {
    const { relay } = await createRelay();
    const [before] = await store.dataSource.query<{ now: string }[]>('SELECT now()::text AS now');
    const batches = await storeBatches(2, 3);
    const unclaimed = await store.dataSource.query<unknown[]>(
      "SELECT FROM outbox WHERE claimed_until < $1::timestamptz + interval '10 seconds'",
      [before?.now],
    );
    expect(unclaimed).toEqual([]);
    // A recovery pass publishes the claimable batch. The pass must not claim the second batch, whose claim begins now.
    await store.dataSource.query(
      "UPDATE outbox SET claimed_until = now() + CASE WHEN id = $1 THEN interval '-1 second' ELSE interval '10 seconds' END",
      [batches[0]?.outboxId],
    );
    relay.start();
    await eventually(async () => expect(await publishedIds()).toEqual(idsOf(batches.slice(0, 1))));
    expect(await store.count('outbox')).toBeGreaterThanOrEqual(1);

    await expireClaims();

    await eventually(async () => expect(await store.count('outbox')).toBe(0));
    expect(await publishedIds()).toEqual(idsOf(batches));
  });

  it('reports a failure when a stored batch is long overdue, and recovers when the batch is gone', async () => {
    await storeBatches(2, 1);
    const running = await createRelay();
    const { relay } = running;
    await expireClaims();
    await expect(relay.check()).resolves.toBeUndefined();

    await store.dataSource.query("UPDATE outbox SET claimed_until = now() - interval '61 seconds'");
    await expect(relay.check()).rejects.toThrow(
      /2 batches wait in the outbox, and one has been due for (6[1-9]|[7-9]\d|\d{3}) s/,
    );
    expect(await counter(running, 'events_outbox_overdue_seconds')).toBeGreaterThan(60);

    await store.dataSource.query('DELETE FROM outbox');
    await expect(relay.check()).resolves.toBeUndefined();
  });

  it('keeps and counts batches that cannot be published, and publishes them when the stream exists again', async () => {
    const [batch] = await storeBatches(1, 5);
    const running = await createRelay();
    // Stop the clock after a check, so that no regular check recreates the stream before the relay publishes.
    await running.watch.check();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    await stream.deleteStream();

    if (batch) running.relay.publish(batch);
    await eventually(async () => expect(await counter(running, 'events_publish_failures_total')).toBe(1));
    expect(await store.count('outbox')).toBe(1);
    expect(await counter(running, 'events_published_total')).toBe(0);

    clock.mockRestore();
    await expireClaims();
    running.relay.start();

    await eventually(async () => expect(await store.count('outbox')).toBe(0));
    expect(await publishedIds()).toEqual(batch && idsOf([batch]));
  });

  it('counts a rejection by the stream as a failure', async () => {
    const [batch] = await storeBatches(1, 5);
    const running = await createRelay();
    await stream.limitMessages(2);

    if (batch) running.relay.publish(batch);

    await eventually(async () => expect(await counter(running, 'events_publish_failures_total')).toBe(1));
    expect(await store.count('outbox')).toBe(1);
  });

  it('shares a full outbox between two instances: each batch is published by exactly one', async () => {
    const batches = await storeBatches(60, 5);
    await expireClaims();
    const instances = [await createRelay(), await createRelay()];

    for (const { relay } of instances) relay.start();
    await eventually(async () => expect(await store.count('outbox')).toBe(0), { timeoutMs: 50_000 });

    expect(await publishedIds()).toEqual(idsOf(batches));
    expect(await sumOf(instances, 'events_published_total')).toBe(300);
  });

  it('puts an event on the stream once when it is published twice', async () => {
    const [batch] = await storeBatches(1, 3);
    const { relay } = await createRelay();
    if (!batch) throw new Error('there is one');

    relay.publish(batch);
    relay.publish(batch);
    await eventually(async () => expect(await store.count('outbox')).toBe(0));

    expect(await publishedIds()).toEqual(idsOf([batch]));
  });

  it('deletes a batch whose events are no longer in the store', async () => {
    const [gone, kept] = await storeBatches(2, 2);
    await store.dataSource.query('DELETE FROM events WHERE id = ANY($1)', [gone && idsOf([gone])]);
    await expireClaims();
    const { relay } = await createRelay();

    relay.start();

    // The stream cannot acknowledge a batch without events, so the relay must not publish it and wait.
    await eventually(async () => expect(await store.count('outbox')).toBe(0));
    expect(await publishedIds()).toEqual(kept && idsOf([kept]));
  });

  it('publishes waiting batches before it stops, and accepts no batches afterwards', async () => {
    const [first, second] = [await storeBatches(20, 10), await storeBatches(1, 1)];
    const { relay } = await createRelay();

    // Stop the clock: the relay leaves the remaining batches to other instances after 5 s, which is too short on a very slow machine.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    for (const batch of first) relay.publish(batch);
    await relay.stop();
    for (const batch of second) relay.publish(batch);

    expect(await publishedIds()).toEqual(idsOf(first));
    expect(await store.count('outbox')).toBe(1);
  });

  it('reports its metrics even while the database is unavailable', async () => {
    const other = await EventStore.create();
    const running = await stream.createRelay(other);
    await other.close();

    expect(await running.metrics.metrics()).toContain('events_published_total 0');
    await running.stop();
  });

  it('records the epoch and the highest sequence of a published batch', async () => {
    const batches = await storeBatches(2, 3);
    const { relay, watch } = await createRelay();

    for (const batch of batches) relay.publish(batch);
    await eventually(async () => expect(await store.count('outbox')).toBe(0));

    const noted = await store.dataSource.query<unknown[]>(
      'SELECT id, cardinality(event_ids) AS size, epoch, last_sequence::int AS last FROM published_batches ORDER BY id',
    );
    expect(noted).toEqual(
      batches.map(({ outboxId }) => ({
        id: outboxId,
        size: 3,
        epoch: watch.trusted?.epoch,
        last: expect.any(Number) as number,
      })),
    );
    expect(await store.count('published_batches')).toBe(2);
    expect(watch.highestSequence).toBe(6);
  });

  it('publishes everything again when the stream is deleted under load', async () => {
    const instances = [await createRelay(), await createRelay()];
    const before = instances[0]?.watch.trusted?.epoch;
    for (const { relay } of instances) relay.start();
    const batches: OutboxBatch[] = [];

    for (let round = 0; round < 60; round += 1) {
      if (round === 30) await stream.deleteStream();
      const [batch] = await storeBatches(1, 5);
      if (!batch) throw new Error('there is one');
      batches.push(batch);
      instances[round % 2]?.relay.publish(batch);
    }
    await expireClaims();

    // Worst case: 5 s until a check, 0.2 s to recreate the stream, and 10 s until a claim ends.
    await eventually(async () => expect(await publishedIds()).toEqual(idsOf(batches)), { timeoutMs: 90_000 });
    const epoch = await stream.readEpoch();
    await eventually(() =>
      expect(instances.map(({ watch }) => watch.trusted?.epoch)).toEqual([epoch, epoch]),
    );
    expect(epoch).not.toBe(before);
    expect(await sumOf(instances, 'events_stream_epochs_total')).toBe(1);
  });

  it('publishes nothing while NATS is unavailable, and then everything under the same epoch', async () => {
    const instances = [await createRelay(), await createRelay()];
    const trusted = instances.map(({ watch }) => watch.trusted);
    for (const { relay } of instances) relay.start();
    const batches = await storeBatches(50, 3);

    for (const batch of batches.slice(0, 25)) instances[0]?.relay.publish(batch);
    await stream.nats.kill();
    await eventually(() =>
      expect(instances.map(({ watch }) => watch.trusted)).toEqual([undefined, undefined]),
    );
    for (const batch of batches.slice(25)) instances[1]?.relay.publish(batch);
    await stream.nats.restart();
    await eventually(() => expect(instances.map(({ watch }) => watch.trusted?.epoch)).toEqual(trusted.map((one) => one?.epoch))); // prettier-ignore
    await expireClaims();

    await eventually(async () => expect(await publishedIds()).toEqual(idsOf(batches)));
    await eventually(async () => expect(await store.count('outbox')).toBe(0));
    expect(await sumOf(instances, 'events_stream_epochs_total')).toBe(0);
  });

  it('ignores an acknowledgement when the stream was in doubt after the batch was sent', async () => {
    const [batch] = await storeBatches(1, 3);
    const running = await createRelay();
    const takenBack: string[] = [];
    const { takeBack } = OutboxRepository.prototype;
    running.outbox.takeBack = async (ids) => {
      await takeBack.call(running.outbox, ids);
      takenBack.push(...ids);
    };
    const holder = await store.beginTransaction();
    await holder.query('SELECT 1 FROM outbox FOR UPDATE');

    if (batch) running.relay.publish(batch);
    await eventually(async () => expect(await counter(running, 'events_published_total')).toBe(3));
    running.watch.suspect();
    await holder.rollbackTransaction();
    await holder.release();

    await eventually(() => expect(takenBack).toEqual([batch?.outboxId]));
    expect(await store.count('published_batches')).toBe(0);
    running.relay.start();
    await eventually(async () => expect(await store.count('published_batches')).toBe(1));
    expect(await publishedIds()).toEqual(batch && idsOf([batch]));
  });

  it('checks the stream when a sequence is lower than an earlier one', async () => {
    const batches = await storeBatches(4, 3);
    const { relay, watch } = await createRelay();
    const before = watch.trusted?.epoch;
    for (const batch of batches.slice(0, 3)) relay.publish(batch);
    await eventually(async () => expect(await store.count('outbox')).toBe(1));
    // Stop the clock 2 s after a check, so that the regular check after 5 s does not run.
    const checkedAt = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(checkedAt);
    await watch.check();
    clock.mockReturnValue(checkedAt + 2_000);
    await stream.loseTail(2);

    for (const batch of batches.slice(3)) relay.publish(batch);

    await eventually(() => expect(watch.trusted?.epoch).not.toBe(before));
    relay.start();
    await eventually(async () => expect(await publishedIds()).toEqual(idsOf(batches)));
  });

  it('claims no more than it can publish, and stops at the first failure', async () => {
    await storeBatches(40, 1);
    await expireClaims();
    const running = await createRelay();
    await stream.limitMessages(1);
    await running.publisher.publish([
      toEventMessage({ ...newEvent(), broadcasterUserId: null, raidToId: null }),
    ]);

    // Run a single recovery pass. Another pass, a second later, would claim the same number again.
    jest.spyOn(globalThis, 'setInterval').mockImplementationOnce((recover) => setTimeout(recover));
    running.relay.start();

    // The relay claims eight batches at a time. With four in flight and four waiting, it claims eight more before the first one fails.
    await eventually(async () => expect(await counter(running, 'events_publish_failures_total')).toBe(16));
    // All other batches still have the time that `expireClaims` set.
    const claimed = await store.dataSource.query<unknown[]>(
      'SELECT 1 FROM outbox WHERE claimed_until > (SELECT min(claimed_until) FROM outbox)',
    );
    expect(claimed).toHaveLength(16);
  });
});

describe(OutboxRepository.name, () => {
  it('never gives a batch to two instances that claim concurrently', async () => {
    const batches = await storeBatches(60, 1);
    await expireClaims();
    const outbox = new OutboxRepository(store.dataSource);

    const claims = await Promise.all(Array.from({ length: 40 }, () => outbox.claim(3, [])));

    expect(claims.every((claimed) => claimed.length <= 3)).toBe(true);
    const ids = claims.flat().map((batch) => batch.outboxId);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await outbox.claim(100, []);
    expect(idsOf([...claims.flat(), ...rest])).toEqual(idsOf(batches));
  });

  it('claims the events of a batch that are left, and counts those that retention has removed', async () => {
    const [batch, other] = await storeBatches(2, 2);
    const [first, second] = batch?.events ?? [];
    await store.dataSource.query('DELETE FROM events WHERE id = $1', [first?.id]);
    await expireClaims();

    const claimed = await new OutboxRepository(store.dataSource).claim(10, []);

    expect(claimed.map(({ events, removed }) => ({ ids: events.map(({ id }) => id), removed }))).toEqual([
      { ids: [second?.id], removed: 1 },
      { ids: expect.arrayContaining(other?.events.map(({ id }) => id) ?? []), removed: 0 },
    ]);
  });

  it('makes published and claimed batches claimable for every instance', async () => {
    const batches = await storeBatches(3, 2);
    const outbox = new OutboxRepository(store.dataSource);
    const ids = batches.map((batch) => batch.outboxId);
    await outbox.retain(
      ids.slice(0, 1).map((outboxId) => ({ outboxId, lastSequence: 2, isLate: false })),
      '1a2b3c4d',
    );
    // Start the writer's claims now, because the steps before may have taken long.
    await store.dataSource.query("UPDATE outbox SET claimed_until = now() + interval '10 seconds'");
    expect(await outbox.claim(10, [])).toEqual([]);

    await outbox.takeBack(ids.slice(0, 2));

    expect(await store.count('published_batches')).toBe(0);
    expect((await outbox.claim(10, [])).map((batch) => batch.outboxId)).toEqual(ids.slice(0, 2));
  });

  it('skips batches that the instance is already publishing', async () => {
    const batches = await storeBatches(2, 1);
    await expireClaims();
    const [known, other] = batches;

    const claimed = await new OutboxRepository(store.dataSource).claim(3, [known?.outboxId ?? '']);

    expect(claimed.map((batch) => batch.outboxId)).toEqual([other?.outboxId]);
  });

  it('claims batches that no other instance is claiming, each once', async () => {
    const batches = await storeBatches(6, 1);
    await expireClaims();
    const outbox = new OutboxRepository(store.dataSource);
    const other = await store.beginTransaction();
    await other.query('SELECT 1 FROM outbox ORDER BY id LIMIT 2 FOR UPDATE');

    const claimed = [...(await outbox.claim(3, [])), ...(await outbox.claim(3, []))];

    expect(claimed.map((batch) => batch.outboxId).sort()).toEqual(
      batches.slice(2).map((batch) => batch.outboxId),
    );
    expect(idsOf(claimed)).toEqual(idsOf(batches.slice(2)));
    await other.rollbackTransaction();
    await other.release();
  });
});

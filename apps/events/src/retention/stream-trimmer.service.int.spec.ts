import { jest } from '@jest/globals';
import { LaggingServerError } from '@stream-events/messaging';
import { createLogger } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { startNextConsumerAt } from '../../test/lagging-consumer.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import { retainFor, runPass, type RetainingInstance } from '../../test/retaining-store.js';
import { StreamSetup, type RunningRelay } from '../../test/stream-setup.js';
import { StreamRecordRepository } from '../relay/stream-record.repository.js';
import { StreamTrimmer } from './stream-trimmer.service.js';

const day = 24 * 3_600_000;
// One test publishes more than 2,000 events.
const patience = { timeoutMs: 60_000 };
jest.setTimeout(4 * patience.timeoutMs);

let store: EventStore;
let setup: StreamSetup;
let relay: RunningRelay;
let instance: RetainingInstance;
beforeAll(async () => {
  [store, setup] = await Promise.all([EventStore.create(), StreamSetup.start()]);
  instance = retainFor(store, 7);
});
afterAll(async () => {
  await Promise.all([store.close(), setup.close()]);
});
beforeEach(async () => {
  await store.clear();
  await store.dataSource.query('UPDATE retention SET removed_before = NULL');
  await store.dataSource.query('UPDATE event_stream SET late_sequence = 0');
  await setup.recreateStream();
  relay = await setup.createRelay(store);
  // On a slow machine, batches wait too long in memory, and a recovery pass must publish them.
  relay.relay.start();
});
afterEach(() => relay.stop());

async function createTrimmer(): Promise<StreamTrimmer> {
  return new StreamTrimmer(
    await setup.openStream(),
    new StreamRecordRepository(store.dataSource),
    instance.records,
    createLogger('test', 'silent'),
  );
}

const running = new AbortController().signal;

/** Publishes events that were received this many days ago. */
async function publish(...daysAgo: number[]): Promise<string[]> {
  const events = daysAgo.map((days) => newEvent({ id: v7({ msecs: Date.now() - days * day }) }));
  await store.writer.store(events);
  for (const batch of store.handedToRelay.splice(0)) relay.relay.publish(batch);
  await eventually(async () => expect(await store.count('outbox')).toBe(0), patience);
  return events.map(({ id }) => id);
}

async function idsOnStream(): Promise<string[]> {
  return (await setup.readStream()).map(({ messageId }) => messageId).sort();
}

describe(StreamTrimmer.name, () => {
  it('deletes events that were published late when retention has removed them from the store', async () => {
    const [expired, kept, fresh] = [await publish(9, 8.5), await publish(6), await publish(0)];
    expect(await idsOnStream()).toEqual([...expired, ...kept, ...fresh].sort());

    await runPass(instance);
    await (await createTrimmer()).run(running);

    expect(await idsOnStream()).toEqual([...kept, ...fresh].sort());
    expect(await idsOnStream()).toEqual(await store.storedIds());
  });

  it('deletes nothing when all events were published in time', async () => {
    await publish(0, 0.01);
    await store.dataSource.query('UPDATE retention SET removed_before = now()');

    await (await createTrimmer()).run(running);

    expect(await setup.readStream()).toHaveLength(2);
  });

  it('deletes nothing while RETENTION_DAYS has removed nothing', async () => {
    const ids = await publish(9);

    await runPass(retainFor(store, 0));
    await (await createTrimmer()).run(running);

    expect(await idsOnStream()).toEqual(ids);
  });

  it('reads more than one page, and leaves messages of others alone', async () => {
    const expired = await publish(9);
    for (let batch = 0; batch < 9; batch += 1) {
      await store.writer.store(newEvents(256));
      for (const handed of store.handedToRelay.splice(0)) relay.relay.publish(handed);
    }
    const late = await publish(8.8);
    await setup.connection.request('events.test.by-hand._', '{}', { timeout: 20_000 });

    await runPass(instance);
    const trimmers = [await createTrimmer(), await createTrimmer()];
    await Promise.all(trimmers.map((trimmer) => trimmer.run(running)));

    // What stays: the new events, and the message from another program.
    const { state } = await setup.readInfo();
    expect(state).toMatchObject({ messages: 9 * 256 + 1 });
    const left = await idsOnStream();
    for (const id of [...expired, ...late]) expect(left).not.toContain(id);
  });

  it('deletes the events on the next run when a server whose copy lacks them has answered', async () => {
    const kept = await publish(6);
    await publish(9);
    await runPass(instance);
    const trimmer = await createTrimmer();
    startNextConsumerAt(setup.connection, 3);

    await expect(trimmer.run(running)).rejects.toThrow(LaggingServerError);

    await trimmer.run(running);
    expect(await idsOnStream()).toEqual(kept);
  });
});

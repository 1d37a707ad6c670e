import { jest } from '@jest/globals';
import { newEvents, newEvent } from '../../test/new-event.js';
import { EventStore } from '../../test/event-store.js';
import { ingestOptions, IngestSetup } from '../../test/ingest-setup.js';
import { StreamSetup, type RunningRelay } from '../../test/stream-setup.js';
import type { NewEvent } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { IngestStream } from '../ingest/ingest-stream.js';
import { ErasedMessagesRepository } from './erased-messages.repository.js';
import { EventStreamStage } from './event-stream.stage.js';
import { IngestStage } from './ingest.stage.js';
import type { SoughtUser, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

jest.setTimeout(180_000);

const userId = '12826';
const user: SoughtUser = { id: userId, isUser: (id) => id === userId };

const naming = (): NewEvent => newEvent({ eventData: `{"gifter_user_id":"${userId}","user_id":"1"}` });

function running(fields: Partial<RunningErasure> = {}): RunningErasure {
  return {
    id: '01999999-9999-7999-8999-999999999999',
    platformUserId: userId,
    userHash: '',
    isDryRun: false,
    stage: 'event_stream',
    stageBeganAt: new Date(),
    position: null,
    progress: 0,
    counts: {},
    createdAt: new Date(),
    erasesUntil: new Date(Date.now() + 60_000),
    endedAt: null,
    error: null,
    leasedBy: null,
    leasedUntil: new Date(),
    ageMs: 60_000,
    stageAgeMs: 60_000,
    ...fields,
  };
}

describe('the erasure of streams', () => {
  let store: EventStore;

  beforeAll(async () => {
    store = await EventStore.create();
    await store.partitions.ensureAhead(Date.now());
  });
  afterEach(() => store.clear());
  afterAll(() => store.close());

  /** Runs the stage until it is complete, and returns the erasure as the service would record it. */
  async function runStage(stage: Stage, fields: Partial<RunningErasure> = {}): Promise<RunningErasure> {
    let erasure = running({ stage: stage.name, ...fields });
    for (;;) {
      const { isComplete, position, counts, apply } = await stage.run(erasure, user);
      if (apply) await store.dataSource.transaction(apply);
      erasure = { ...erasure, position: position ?? erasure.position, counts: counts ?? erasure.counts };
      if (isComplete) return erasure;
    }
  }

  describe(EventStreamStage.name, () => {
    let setup: StreamSetup;
    let relay: RunningRelay;
    let erasedMessages: ErasedMessagesRepository;

    beforeAll(async () => {
      setup = await StreamSetup.start();
      erasedMessages = new ErasedMessagesRepository(store.dataSource);
    });
    beforeEach(async () => {
      relay = await setup.createRelay(store);
    });
    afterEach(async () => {
      await relay.stop();
      await setup.deleteStream();
    });
    afterAll(() => setup.close());

    async function publish(events: readonly NewEvent[]): Promise<void> {
      const { state } = await setup.readInfo();
      const expected = state.last_seq + events.length;
      await store.writer.store(events);
      for (const batch of store.handedToRelay.splice(0)) relay.relay.publish(batch);
      await eventually(async () =>
        expect((await setup.readInfo()).state.last_seq).toBeGreaterThanOrEqual(expected),
      );
    }

    const createStage = async () => new EventStreamStage(await setup.openStream(), erasedMessages);
    const readIds = async () => (await setup.readStream()).map(({ messageId }) => messageId);

    it('removes the messages that name the user, and records their sequences', async () => {
      const others = newEvents(450);
      const events = [naming(), ...others.slice(0, 300), naming(), naming(), ...others.slice(300), naming()];
      for (let first = 0; first < events.length; first += 200)
        await publish(events.slice(first, first + 200));
      const sequences = (await setup.readStream())
        .map(({ text }, index) => ({ text, sequence: index + 1 }))
        .filter(({ text }) => text.includes(userId))
        .map(({ sequence }) => sequence);
      const { counts } = await runStage(await createStage());

      expect((await readIds()).sort()).toEqual(others.map(({ id }) => id).sort());
      expect(counts.event_stream_messages).toEqual({ total: 4, fields: { gifter_user_id: 4 } });
      const epoch = (await setup.readEpoch()) ?? '';
      for (const sequence of sequences)
        expect(await erasedMessages.hasAll(epoch, sequence, sequence)).toBe(true);
      expect(await erasedMessages.hasAll(epoch, 1, 2)).toBe(false);
      expect(await erasedMessages.hasAll('ffffffff', 1, 1)).toBe(false);
    });

    it('does not look like a loss to the check of the stream', async () => {
      await publish([...newEvents(3), naming()]);
      const epoch = await setup.readEpoch();
      await runStage(await createStage());
      await relay.watch.check();
      await publish(newEvents(2));
      await relay.watch.check();

      expect(await setup.readEpoch()).toBe(epoch);
      expect((await setup.readInfo()).state).toMatchObject({ messages: 5, last_seq: 6 });
    });

    it('keeps messages that were received after the erasure', async () => {
      const later = naming();
      await publish([later]);
      await runStage(await createStage(), { erasesUntil: new Date(Date.now() - 60_000) });

      expect(await readIds()).toEqual([later.id]);
    });

    it('is not complete while a relay may still publish events that it read before', async () => {
      await publish(newEvents(1));
      const stage = await createStage();
      const { position } = await stage.run(running({ stageAgeMs: 0 }), user);
      expect(await stage.run(running({ position, stageAgeMs: 15_000 }), user)).toMatchObject({
        isComplete: false,
      });
      const late = naming();
      await publish([late]);
      expect((await stage.run(running({ position, stageAgeMs: 17_000 }), user)).isComplete).toBe(false);
      await runStage(stage, { position });

      expect(await readIds()).not.toContain(late.id);
    });

    it('is complete although events keep arriving', async () => {
      await publish([naming(), ...newEvents(2)]);
      const stage = await createStage();
      let erasure = running();
      for (let isComplete = false; !isComplete;) {
        const step = await stage.run(erasure, user);
        isComplete = step.isComplete;
        erasure = { ...erasure, position: step.position ?? null };
        await publish(newEvents(1));
      }

      expect((await readIds()).length).toBeGreaterThan(2);
    });

    it('begins again on a stream with another epoch', async () => {
      const event = naming();
      await publish([event]);
      const position = { epoch: '00000000', next: 1_000 };
      await runStage(await createStage(), { position });

      expect(await readIds()).toEqual([]);
    });

    it('can repeat a piece of work after a crash', async () => {
      await publish([naming(), ...newEvents(2)]);
      const stage = await createStage();
      await stage.run(running(), user);
      await runStage(stage);

      expect((await setup.readInfo()).state.messages).toBe(2);
    });

    it('only counts in a dry run', async () => {
      await publish([naming(), ...newEvents(2)]);
      const { counts } = await runStage(await createStage(), { isDryRun: true, stageAgeMs: 0 });

      expect(counts.event_stream_messages?.total).toBe(1);
      expect((await setup.readInfo()).state.messages).toBe(3);
    });
  });

  describe(IngestStage.name, () => {
    let setup: IngestSetup;
    let ingest: IngestStream;
    let stage: IngestStage;

    beforeAll(async () => {
      setup = await IngestSetup.start();
      ingest = new IngestStream(setup.connection, ingestOptions);
      stage = new IngestStage(ingest, store.events);
    });
    beforeEach(() => ingest.prepare());
    afterEach(() => setup.deleteStream());
    afterAll(() => setup.close());

    it('removes the waiting messages that name the user, and keeps their keys', async () => {
      const named = { ...naming(), eventId: 'waiting' };
      const others = newEvents(5);
      await setup.publishEvents([...others.slice(0, 2), named, ...others.slice(2)]);
      await setup.publish(`{"eventData":"{\\"user_id\\":\\"${userId}\\"}"`);
      const { counts } = await runStage(stage);

      expect(await setup.count()).toBe(5);
      expect(counts.ingest_messages).toEqual({ total: 2, fields: { gifter_user_id: 1, user_id: 1 } });
      const redelivered = newEvent({ eventId: 'waiting' });
      expect(await store.writer.store([redelivered])).toEqual([{ id: named.id, outcome: 'known' }]);
    });

    it('is complete although messages keep arriving', async () => {
      let erasure = running({ stage: stage.name });
      for (let isComplete = false; !isComplete;) {
        await setup.publishEvents(newEvents(1));
        const step = await stage.run(erasure, user);
        isComplete = step.isComplete;
        erasure = { ...erasure, position: step.position ?? null };
      }

      expect(await setup.count()).toBeGreaterThan(0);
    });

    it('leaves messages that are being drained to the write path, which does not store them', async () => {
      const named = naming();
      await setup.publishEvents([named]);
      const [taken] = await setup.deliver(1);
      await runStage(stage);
      await store.noteErased(userId);
      const drained = JSON.parse(taken?.string() ?? '') as NewEvent;

      expect(await store.writer.store([drained])).toEqual([{ id: named.id, outcome: 'stored' }]);
      expect(await store.count('events')).toBe(0);
    });

    it('only counts in a dry run', async () => {
      await setup.publishEvents([naming()]);
      const { counts } = await runStage(stage, { isDryRun: true });

      expect(counts.ingest_messages?.total).toBe(1);
      expect(await setup.count()).toBe(1);
    });
  });
});

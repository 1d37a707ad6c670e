import { firstIdAt, type StreamSummaryMessage, type SummarizeStreamRequest } from '@stream-events/contracts';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { RetentionRepository } from '../retention/retention.repository.js';
import { RetentionPolicy } from '../store/retention-policy.js';
import { KeptEvents } from './kept-events.js';
import { SavedSummaries } from './saved-summaries.repository.js';
import { StreamSummaries } from './stream-summaries.service.js';
import { SummariesRepository } from './summaries.repository.js';
import type { SummaryPeriod } from './summary-period.js';

/** Lets a test do something after the events have been read. */
class ObservedSummaries extends SummariesRepository {
  computations = 0;
  afterReading: () => Promise<unknown> = () => Promise.resolve();

  override async compute(
    ...period: Parameters<SummariesRepository['compute']>
  ): Promise<StreamSummaryMessage> {
    this.computations += 1;
    const summary = await super.compute(...period);
    await this.afterReading();
    return summary;
  }
}

let store: EventStore;
let saved: SavedSummaries;
let computed: ObservedSummaries;
let summaries: StreamSummaries;
beforeAll(async () => {
  store = await EventStore.create();
  saved = new SavedSummaries(store.dataSource, store.changes);
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.clear();
  computed = new ObservedSummaries(store.dataSource);
  summaries = createSummaries(RetentionPolicy.forever);
});

function createSummaries(retention: RetentionPolicy): StreamSummaries {
  const kept = new KeptEvents(store.partitions, retention, new RetentionRepository(store.dataSource));
  return new StreamSummaries(computed, saved, store.changes, kept);
}

const hour = 3_600_000;
// A stream of four hours across midnight, in the middle of a month.
const startedAt = Date.UTC(2025, 2, 14, 22);
const ended = { streamId: v7(), channelId: 'c1', startedAt, endedAt: startedAt + 4 * hour, limits: {} };

/** Stores a follow that happened at this time; because it is stored now, it is a late event. */
async function follow(occurredAt: number, channelId = 'c1'): Promise<void> {
  const eventData = JSON.stringify({ broadcaster_user_id: channelId, user_id: '1' });
  await store.writer.store([
    newEvent({ id: v7({ msecs: occurredAt + 1_000 }), eventId: v7(), eventData, occurredAt }),
  ]);
}

async function countFollowers(request: SummarizeStreamRequest = ended): Promise<number> {
  return (await summaries.summarize(request)).followers;
}

describe(StreamSummaries.name, () => {
  it('computes the summary of a stream that has ended once', async () => {
    await follow(startedAt + hour);

    const first = await summaries.summarize(ended);
    const second = await summaries.summarize(ended);

    expect(first).toMatchObject({ followers: 1, isPartial: false });
    expect(second).toEqual(first);
    expect(computed.computations).toBe(1);
  });

  it('computes the summary of a running stream, and of one that has just ended, every time', async () => {
    const now = Date.now();
    const running = { ...ended, startedAt: now - hour, endedAt: null };
    await follow(now - 1_000);

    expect(await countFollowers(running)).toBe(1);
    await follow(now - 500);
    expect(await countFollowers(running)).toBe(2);
    expect(await countFollowers({ ...running, endedAt: now })).toBe(2);
    await follow(now - 200);
    expect(await countFollowers({ ...running, endedAt: now })).toBe(3);
  });

  it('computes a summary again after a late event on either day of the stream', async () => {
    await follow(startedAt);
    expect(await countFollowers()).toBe(1);

    await follow(startedAt + hour);
    expect(await countFollowers()).toBe(2);

    await follow(startedAt + 3 * hour);
    expect(await countFollowers()).toBe(3);
  });

  it('keeps a summary after late events of other days and other channels', async () => {
    await countFollowers();

    await follow(startedAt - 24 * hour);
    await follow(startedAt + 48 * hour);
    await follow(startedAt + hour, 'c2');

    expect(await countFollowers()).toBe(0);
    expect(computed.computations).toBe(1);
  });

  it('computes a summary again after a late raid in either direction', async () => {
    const raid = (from: string, to: string): Promise<unknown> =>
      store.writer.store([
        newEvent({
          id: v7({ msecs: startedAt + hour }),
          eventType: 'channel-raid',
          eventId: v7(),
          eventData: JSON.stringify({
            from_broadcaster_user_id: from,
            to_broadcaster_user_id: to,
            viewers: 5,
          }),
        }),
      ]);
    expect(await summaries.summarize(ended)).toMatchObject({ incomingRaids: { count: 0 } });

    await raid('c2', 'c1');
    expect(await summaries.summarize(ended)).toMatchObject({ incomingRaids: { count: 1, viewers: 5 } });

    await raid('c1', 'c3');
    expect(await summaries.summarize(ended)).toMatchObject({ outgoingRaids: { count: 1 }, events: 2 });
  });

  it('does not save a summary if a late event arrives while it is being computed', async () => {
    computed.afterReading = () => follow(startedAt + hour);
    expect(await countFollowers()).toBe(0);

    computed.afterReading = () => Promise.resolve();
    expect(await countFollowers()).toBe(1);
  });

  it('notes a late event when a retry finds it stored, as after a crash between the commit and the note', async () => {
    const eventData = '{"broadcaster_user_id":"c1"}';
    const event = newEvent({ id: v7({ msecs: startedAt }), eventData });
    await store.writer.store([event]);
    await store.dataSource.query('TRUNCATE channel_changes');

    await store.writer.store([event]);

    expect(await store.changes.count({ channelId: 'c1', from: startedAt, to: startedAt })).toBe(1);
  });

  it('computes a summary again when the end or the start of the stream is corrected', async () => {
    await follow(startedAt + hour);
    await follow(startedAt + 5 * hour);

    expect(await countFollowers()).toBe(1);
    expect(await countFollowers({ ...ended, endedAt: startedAt + 6 * hour })).toBe(2);
    expect(await countFollowers({ ...ended, startedAt: startedAt + 2 * hour })).toBe(0);
    expect(await countFollowers()).toBe(1);
  });

  it('summarizes a stream again that was deleted and rebuilt', async () => {
    await follow(startedAt + hour);
    await countFollowers();
    // The id contains the start only to the second, so the rebuilt stream has the id of the deleted one. `startedAt` is exact.
    const rebuilt = { ...ended, startedAt: startedAt + hour + 1 };

    expect(await countFollowers(rebuilt)).toBe(0);
    expect(await countFollowers(ended)).toBe(1);
  });

  it('shares computations between requests at the same time', async () => {
    await follow(startedAt + hour);

    const counts = await Promise.all(Array.from({ length: 20 }, () => countFollowers()));

    expect(new Set(counts)).toEqual(new Set([1]));
    expect(computed.computations).toBeLessThan(20);
  });

  describe('when retention has removed events', () => {
    const old: SummarizeStreamRequest = {
      ...ended,
      startedAt: Date.UTC(2025, 3, 30, 20),
      endedAt: Date.UTC(2025, 4, 1, 4),
    };
    const may = Date.UTC(2025, 4, 1);
    const dropApril = async (): Promise<void> => {
      for (const name of ['events_2025_03', 'events_2025_04'])
        await store.dataSource.query(`DROP TABLE IF EXISTS ${name}`);
    };
    beforeEach(async () => {
      await follow(may - hour);
      await follow(may + hour);
    });

    it('marks a summary as partial, also one that was saved before', async () => {
      expect(await summaries.summarize(old)).toMatchObject({ followers: 2, isPartial: false });

      await dropApril();

      expect(await summaries.summarize(old)).toMatchObject({ followers: 1, isPartial: true });
      expect(await summaries.summarize(old)).toMatchObject({ followers: 1, isPartial: true });
      expect(computed.computations).toBe(2);
    });

    it('counts no day that is due for removal, exact to the day', async () => {
      const today = Math.floor(Date.now() / (24 * hour));
      const days = today - may / (24 * hour);

      const policies = [days + 1, days, days - 1].map((kept) => createSummaries(new RetentionPolicy(kept)));

      const [before, exact, after] = await Promise.all(policies.map((some) => some.summarize(old)));
      expect(before).toMatchObject({ followers: 2, isPartial: false });
      expect(exact).toMatchObject({ followers: 1, isPartial: true });
      expect(after).toMatchObject({ followers: 0, isPartial: true });
    });

    it('marks a summary as partial after RETENTION_DAYS was raised again', async () => {
      const records = new RetentionRepository(store.dataSource);
      await store.dataSource.query('DELETE FROM events WHERE id < $1', [firstIdAt(may)]);
      await records.saveRemovedBefore(may);

      expect(await summaries.summarize(old)).toMatchObject({ followers: 1, isPartial: true });

      await store.dataSource.query('UPDATE retention SET removed_before = NULL');
    });

    it('forgets the summaries and the changes of streams that ended before', async () => {
      await summaries.summarize({ ...old, streamId: v7(), endedAt: may - 1 });
      await summaries.summarize(old);
      await dropApril();

      await summaries.removeOld();

      expect(await store.dataSource.query('SELECT stream FROM stream_summaries')).toEqual([
        { stream: old.streamId },
      ]);
      expect(await store.dataSource.query('SELECT day::text FROM channel_changes')).toEqual([
        { day: '2025-05-01' },
      ]);
    });
  });

  describe('invalidate', () => {
    const ofOther: SummarizeStreamRequest = { ...ended, streamId: v7(), channelId: 'c2' };
    const erase = (): Promise<unknown> => store.dataSource.query('DELETE FROM events');
    beforeEach(() => follow(startedAt + hour));

    it('deletes the saved summaries of some channels, and leaves the others', async () => {
      await countFollowers();
      await countFollowers(ofOther);
      await erase();

      expect(await summaries.invalidate(['c1', 'c1', 'c3'])).toBe(1);

      expect(await store.dataSource.query('SELECT channel_id FROM stream_summaries')).toEqual([
        { channel_id: 'c2' },
      ]);
      expect(await countFollowers()).toBe(0);
    });

    it('deletes all saved summaries', async () => {
      await countFollowers();
      await countFollowers(ofOther);
      await erase();

      expect(await summaries.invalidate('all')).toBe(2);

      expect(await countFollowers()).toBe(0);
    });

    it.each([[['c1']], ['all' as const]])(
      'keeps a summary from being saved that is being computed: %j',
      async (channels) => {
        computed.afterReading = async () => {
          await erase();
          await summaries.invalidate(channels);
        };

        expect(await countFollowers()).toBe(1);

        expect(await store.dataSource.query('SELECT FROM stream_summaries')).toEqual([]);
        computed.afterReading = () => Promise.resolve();
        expect(await countFollowers()).toBe(0);
      },
    );
  });

  it('leaves no summary when saves and removals of it run at the same time', async () => {
    const key: SummaryPeriod & { streamId: string; changes: number } = {
      ...{
        streamId: ended.streamId,
        channelId: 'c1',
        from: startedAt,
        to: ended.endedAt,
        keptFrom: null,
        changes: 0,
      },
    };
    const summary = await computed.compute(key, [], {});

    await Promise.all(
      Array.from({ length: 10 }, () => [saved.save(key, summary), saved.remove(['c1'])]).flat(),
    );

    expect(await store.dataSource.query('SELECT FROM stream_summaries')).toEqual([]);
  });
});

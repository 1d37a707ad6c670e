import { maxStreamSamples, type ListPosition } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';
import { MonitorStore } from '../../test/monitor-store.js';
import { epoch, online } from '../../test/facts.js';
import type { Streamer } from '../streamers/streamer.entity.js';
import { StreamListRepository } from './stream-list.repository.js';

let store: MonitorStore;
beforeAll(async () => {
  store = await MonitorStore.create();
});
afterAll(() => store.close());
beforeEach(() => store.clear());

async function addStreams(streamer: Streamer, count: number): Promise<void> {
  for (let index = 1; index <= count; index += 1)
    await store.recorder.recordEvent(online(streamer, `s${index}`, index * 10_000));
}

async function readPage(streamer: Streamer, position?: ListPosition | null) {
  const request = { streamerId: streamer.id, pageSize: 3, ...(position && { position }) };
  const page = await store.list.list(request);
  return { ...page!, ids: page!.streams.map(({ streamId }) => streamId) };
}

describe(StreamListRepository.name, () => {
  describe('list', () => {
    it('lists every stream once, newest first, in both directions, while new ones arrive', async () => {
      const streamer = await store.addStreamer();
      await addStreams(streamer, 7);
      await addStreams(await store.addStreamer(), 2);

      const first = await readPage(streamer);
      expect(first).toMatchObject({ ids: ['s7', 's6', 's5'], count: 7, previous: null });
      await store.recorder.recordEvent(online(streamer, 's8', 80_000));
      const second = await readPage(streamer, first.next);
      const third = await readPage(streamer, second.next);
      expect([second.ids, third.ids, third.next]).toEqual([['s4', 's3', 's2'], ['s1'], null]);

      const back = await readPage(streamer, third.previous);
      expect(back.ids).toEqual(['s4', 's3', 's2']);
      const top = await readPage(streamer, back.previous);
      expect(top.ids).toEqual(['s7', 's6', 's5']);
      expect(await readPage(streamer, top.previous)).toMatchObject({ ids: ['s8'], previous: null });
    });

    it('returns an empty page for a streamer without streams, and null for an unknown streamer', async () => {
      const streamer = await store.addStreamer();

      expect(await readPage(streamer)).toMatchObject({ ids: [], count: 0, next: null, previous: null });
      expect(await store.list.list({ streamerId: uuidV7(), pageSize: 3 })).toBeNull();
      expect(await store.list.findLatest(streamer.id)).toBeNull();
    });
  });

  describe('findLive', () => {
    it('finds the running streams of enabled streamers', async () => {
      const [live, ended, disabled, other] = await Promise.all([1, 2, 3, 4].map(() => store.addStreamer()));
      for (const streamer of [live!, ended!, disabled!, other!]) await addStreams(streamer, 1);
      await store.dataSource.query(`UPDATE streams SET ended_at = now() WHERE streamer_id = $1`, [ended!.id]);
      await store.dataSource.query(`UPDATE streamers SET disabled = true WHERE id = $1`, [disabled!.id]);

      expect(
        await store.list.findLive([live!, ended!, disabled!].map(({ platformId }) => platformId)),
      ).toEqual([
        {
          platformId: live!.platformId,
          platformUsername: live!.platformUsername,
        },
      ]);
    });
  });

  describe('readHistory', () => {
    it.each([
      [0, 0],
      [1, 1],
      [maxStreamSamples - 1, maxStreamSamples - 1],
      [maxStreamSamples + 1, 501],
      [7_003, 877],
    ])('thins out %d samples to %d, evenly spaced, with the first and the last one', async (count, kept) => {
      const streamer = await store.addStreamer();
      await addStreams(streamer, 1);
      const [stream] = await store.streamsOf(streamer);
      await store.dataSource.query(
        `INSERT INTO stream_samples SELECT $1, to_timestamp(n), n, '', '', '' FROM generate_series(1, $2::int) AS n`,
        [stream!.id, count],
      );

      const viewers = (await store.list.readHistory(streamer.id, stream!.id))!.map(
        ({ viewerCount }) => viewerCount,
      );

      expect(viewers).toHaveLength(kept);
      expect(viewers.length).toBeLessThanOrEqual(maxStreamSamples);
      if (count > 0) expect([viewers[0], viewers.at(-1)]).toEqual([1, count]);
    });

    it('returns null for the stream of another streamer', async () => {
      const streamer = await store.addStreamer();
      await addStreams(streamer, 1);
      const [stream] = await store.streamsOf(streamer);

      expect(await store.list.readHistory(uuidV7(), stream!.id)).toBeNull();
    });
  });

  describe('findWithViewers', () => {
    let begin = 0;
    const at = (seconds: number): Date => new Date(begin + seconds * 1_000);

    async function find(
      samples: [seconds: number, viewers: number][],
      ended?: number,
      seen?: number,
      ageDays = 1,
    ) {
      begin = Date.now() - ageDays * 86_400_000;
      const streamer = await store.addStreamer();
      await store.recorder.recordEvent(online(streamer, 's1', begin - epoch));
      const [stream] = await store.streamsOf(streamer);
      const { id } = stream!;
      await store.dataSource.query('UPDATE streams SET ended_at = $2, seen_at = $3 WHERE id = $1', [
        id,
        ...[ended, seen].map((seconds) => (seconds === undefined ? null : at(seconds))),
      ]);
      for (const [seconds, viewers] of samples)
        await store.dataSource.query(`INSERT INTO stream_samples VALUES ($1, $2, $3, '', '', '')`, [
          ...[id, at(seconds), viewers],
        ]);
      return { ...(await store.list.findWithViewers(streamer.id, id)), id };
    }

    it('weights each sample with the time until the next one, or until the end', async () => {
      const { id, ...found } = await find([[0, 10], [60, 100], [90, 20]], 100); // prettier-ignore

      expect(found).toMatchObject({ stream: { id, streamId: 's1', endedAt: at(100).getTime() }, peak: 100 });
      expect(found.average).toBeCloseTo((10 * 60 + 100 * 30 + 20 * 10) / 100, 10);
    });

    it('counts the last sample of a running stream until the last poll', async () => {
      expect((await find([[0, 10], [10, 40]], undefined, 30)).average).toBeCloseTo((10 * 10 + 40 * 20) / 30, 10); // prettier-ignore
    });

    it('ignores polls after the end', async () => {
      expect(await find([[0, 10], [110, 500]], 100)).toMatchObject({ peak: 10, average: 10 }); // prettier-ignore
    });

    it('returns the only sample of a running stream, and nulls without samples', async () => {
      expect(await find([[5, 7]])).toMatchObject({ peak: 7, average: 7 });
      expect(await find([], 100)).toMatchObject({ peak: null, average: null });
    });

    it('returns nulls for a stream whose first samples may have been removed', async () => {
      expect(await find([[0, 10]], 100, undefined, 399)).toMatchObject({ peak: 10 }); // prettier-ignore
      expect(await find([[0, 10]], 100, undefined, 401)).toMatchObject({ peak: null, average: null }); // prettier-ignore
    });

    it('returns null for the stream of another streamer', async () => {
      const { id } = await find([]);

      expect(await store.list.findWithViewers(uuidV7(), id)).toBeNull();
    });
  });
});

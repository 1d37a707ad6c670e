import { createLogger } from '@stream-events/service';
import type { DataSource } from 'typeorm';
import { MonitorStore } from '../../test/monitor-store.js';
import { epoch, listed, offline, online } from '../../test/facts.js';
import type { Streamer } from '../streamers/streamer.entity.js';
import type { Poll } from '../polling/routine-poll.js';
import { toSeenStream } from '../polling/seen-stream.js';
import { StreamMaintenance } from './stream-maintenance.service.js';
import { StreamRecorder, type StreamEvent } from './stream-recorder.service.js';

const second = 1_000;
const minute = 60 * second;
let store: MonitorStore;

beforeAll(async () => {
  store = await MonitorStore.create();
});
afterAll(() => store.close());
beforeEach(() => store.clear());

function poll(at: number, stream: Parameters<typeof toSeenStream>[0] | null): Poll {
  return { at: epoch + at, stream: stream && toSeenStream(stream), claimedUntil: null };
}

async function dueInSeconds(streamer: Streamer, dataSource = store.dataSource): Promise<number> {
  const [row] = await dataSource.query<{ due: number }[]>(
    'SELECT extract(epoch FROM next_poll_at - now())::float8 AS due FROM streamers WHERE id = $1',
    [streamer.id],
  );
  return row!.due;
}

const later = (): Date => new Date(Date.now() + 3_600_000);

describe(StreamRecorder.name, () => {
  describe('recordEvent', () => {
    it('makes a streamer due for an immediate poll when an event announces a stream, for title and viewers', async () => {
      const streamer = await store.addStreamer({ nextPollAt: later() });

      await store.recorder.recordEvent(online(streamer, 's1', 0));

      const after = await store.streamer(streamer);
      expect(after).toMatchObject({ streaming: true, isStreamingKnown: true });
      expect(after.nextPollAt.getTime() - after.updatedAt.getTime()).toBe(0);
    });

    it('records the true streams when several instances record all facts at the same time', async () => {
      const streamer = await store.addStreamer();
      const said = [0, 1, 2, 3].flatMap((index) => [
        online(streamer, `s${index}`, index * 10 * minute),
        offline(streamer, index * 10 * minute + 5 * minute, index % 2 === 0 ? `s${index}` : undefined),
      ]);
      const polls = [4, 14, 24, 34].map((at, index) =>
        poll(at * minute, listed(streamer, `s${index}`, index * 10 * minute)),
      );

      await Promise.all([
        ...[...said, ...said.toReversed()].map((event) => store.recorder.recordEvent(event)),
        ...polls.map((said) => store.polls.recordPoll(streamer.id, said)),
      ]);

      const streams = (await store.streamsOf(streamer)).map(({ streamId, startedAt, endedAt }) => [
        streamId,
        (startedAt.getTime() - epoch) / minute,
        (endedAt!.getTime() - epoch) / minute,
      ]);
      expect(streams).toEqual([0, 1, 2, 3].map((index) => [`s${index}`, index * 10, index * 10 + 5]));
    });

    it.each([['s1'], [undefined]])(
      'shows a stream as live when it is announced again after an offline event, named %s',
      async (name) => {
        const streamer = await store.addStreamer();
        const stateAfter = async (...events: StreamEvent[]) => {
          for (const event of events) await store.recorder.recordEvent(event);
          const [stream] = await store.streamsOf(streamer);
          const { streaming } = await store.streamer(streamer);
          return [streaming, stream?.endedAt && (stream.endedAt.getTime() - epoch) / second];
        };
        const said = online(streamer, 's1', 0, { at: second });
        await stateAfter(said, offline(streamer, 29 * second, name));
        await store.polls.recordPoll(streamer.id, poll(60 * second, listed(streamer, 's1', 0)));

        expect(await stateAfter(said, online(streamer, 's1', 0, { at: 20 * second }))).toEqual([false, 29]);
        expect(await stateAfter(online(streamer, 's1', 0, { at: 74 * second }))).toEqual([true, null]);
        expect(await stateAfter(offline(streamer, 31 * second, name))).toEqual([true, null]);
        expect(await stateAfter(offline(streamer, 3_600 * second, name))).toEqual([false, 3_600]);
      },
    );

    it('shows a stream as live when it is announced again after two polls have missed it, while the list lags', async () => {
      const streamer = await store.addStreamer({ nextPollAt: later() });
      await store.recorder.recordEvent(online(streamer, 's1', 0));
      await store.polls.recordPoll(streamer.id, poll(minute, listed(streamer, 's1', 0)));
      for (const at of [20 * minute, 21 * minute]) await store.polls.recordPoll(streamer.id, poll(at, null));
      expect(await store.streamer(streamer)).toMatchObject({ streaming: false });

      await store.recorder.recordEvent(online(streamer, 's1', 0, { at: 22 * minute }));
      expect(await dueInSeconds(streamer)).toBeLessThan(1);
      for (const at of [23 * minute, 24 * minute]) await store.polls.recordPoll(streamer.id, poll(at, null));
      expect(await store.streamer(streamer)).toMatchObject({ streaming: true });

      for (const at of [28 * minute, 29 * minute]) await store.polls.recordPoll(streamer.id, poll(at, null));
      expect((await store.streamsOf(streamer))[0]?.endedAt?.getTime()).toBe(epoch + 28 * minute);
    });

    it('records a new username, but no older report and no other spelling', async () => {
      const streamer = await store.addStreamer({ platformUsername: 'MiRa', namedAt: new Date(epoch) });
      const nameAfter = async (login: string, at: number): Promise<string> => {
        await store.recorder.recordEvent(online(streamer, 's1', 0, { login, at }));
        return (await store.streamer(streamer)).platformUsername;
      };

      expect(await nameAfter('mira', 1)).toBe('MiRa');
      expect(await nameAfter('other', -1)).toBe('MiRa');
      expect(await nameAfter('mira_new', 2)).toBe('mira_new');
      expect(await nameAfter('mira', 1)).toBe('mira_new');
    });
  });

  describe('recordPoll', () => {
    it('polls again in 25.5 s after a miss, and ends the stream at the first of two misses', async () => {
      const streamer = await store.addStreamer({ nextPollAt: later() });
      await store.polls.recordPoll(streamer.id, poll(0, listed(streamer, 's1', -minute)));

      await store.polls.recordPoll(streamer.id, poll(45 * second, null));
      // A batch of other streamers may include it up to 5 s early, and the second miss must still count.
      expect(await dueInSeconds(streamer)).toBeLessThan(26);
      expect((await store.streamer(streamer)).streaming).toBe(true);
      await store.polls.recordPoll(streamer.id, poll(66 * second, null));

      const [stream] = await store.streamsOf(streamer);
      expect(stream?.endedAt?.getTime()).toBe(epoch + 45 * second);
      expect(await store.streamer(streamer)).toMatchObject({ streaming: false });
    });

    it('retries at 2, 4, 8 … 45 s until the platform lists an announced stream', async () => {
      const streamer = await store.addStreamer({ nextPollAt: later() });
      const dueAfterPoll = (at: number, stream: Poll['stream']): Promise<number> =>
        store.stopClock(async (dataSource) => {
          await dataSource.query('UPDATE streamers SET next_poll_at = $1', [later()]);
          const polls = store.createPolls(dataSource);
          await polls.recordPoll(streamer.id, { at: epoch + at, stream, claimedUntil: null });
          return Math.round(await dueInSeconds(streamer, dataSource));
        });
      await store.recorder.recordEvent(online(streamer, 's1', 0));

      expect(await dueAfterPoll(second, null)).toBe(2);
      expect(await dueAfterPoll(4 * second, null)).toBe(4);
      expect(await dueAfterPoll(8 * second, null)).toBe(8);
      expect(await dueAfterPoll(16 * second, null)).toBe(16);
      expect(await dueAfterPoll(100 * second, null)).toBe(45);
      expect(await dueAfterPoll(101 * second, toSeenStream(listed(streamer, 's1', 0)))).toBe(45);
      expect(await store.streamsOf(streamer)).toMatchObject([{ title: 'hello', viewerCount: 7 }]);
    });

    it('corrects the end when a later event arrives or a poll sees the stream again', async () => {
      const streamer = await store.addStreamer();
      const said = listed(streamer, 's1', -minute);
      const endAfter = async (at: number, stream: typeof said | null): Promise<number | undefined> => {
        await store.polls.recordPoll(streamer.id, poll(at, stream));
        return (await store.streamsOf(streamer))[0]?.endedAt?.getTime();
      };
      await endAfter(0, said);
      await endAfter(45 * second, null);
      expect(await endAfter(90 * second, null)).toBe(epoch + 45 * second);
      expect(await endAfter(135 * second, said)).toBeUndefined();
      await endAfter(180 * second, null);
      expect(await endAfter(225 * second, null)).toBe(epoch + 180 * second);

      await store.recorder.recordEvent(offline(streamer, 140 * second));
      expect((await store.streamsOf(streamer))[0]?.endedAt?.getTime()).toBe(epoch + 140 * second);
    });

    it('ignores a poll that is older than the last recorded one', async () => {
      const streamer = await store.addStreamer();
      await store.polls.recordPoll(streamer.id, poll(minute, null));

      expect(await store.polls.recordPoll(streamer.id, poll(0, listed(streamer, 's1', 0)))).toBe(false);
      expect(await store.streamsOf(streamer)).toEqual([]);
    });

    it('ignores a poll of an expired claim that is older than the last recorded one, but not a poll of the current claim', async () => {
      const claimedUntil = new Date(Date.now() + 30_000);
      const streamer = await store.addStreamer({ nextPollAt: claimedUntil });
      await store.polls.recordPoll(streamer.id, poll(minute, null));
      const recordUnder = (claim: Date) =>
        store.polls.recordPoll(streamer.id, { ...poll(0, null), claimedUntil: claim.getTime() });

      expect(await recordUnder(new Date(Date.now() - 1))).toBe(false);
      expect(await recordUnder(claimedUntil)).toBe(true);
      expect(await recordUnder(claimedUntil)).toBe(false);
    });

    it('samples a new title or category immediately, and viewers once a minute', async () => {
      const streamer = await store.addStreamer();
      const see = (at: number, overrides: Parameters<typeof listed>[3]) => {
        const claim = { claimedUntil: 0, streamers: [{ id: streamer.id, platformId: streamer.platformId }] };
        return store.polls.record(claim, {
          streams: [listed(streamer, 's1', 0, overrides)],
          askedAt: epoch + at,
        });
      };
      await see(0, { viewerCount: 1 });
      await see(45 * second, { viewerCount: 2 });
      await see(90 * second, { viewerCount: 3 });
      await see(95 * second, { viewerCount: 3, title: 'new\0 title' });
      await see(100 * second, { viewerCount: 3, title: 'new title', gameId: '1', gameName: 'Chess' });
      await see(200 * second, { viewerCount: 3, title: 'new title', gameId: '1', gameName: 'Chess' });

      const [stream] = await store.streamsOf(streamer);
      const samples = await store.list.readHistory(streamer.id, stream!.id);
      expect(
        samples?.map(({ at, viewerCount, title, gameId }) => [
          (at - epoch) / second,
          viewerCount,
          title,
          gameId,
        ]),
      ).toEqual([
        [0, 1, 'hello', '509658'],
        [90, 3, 'hello', '509658'],
        [95, 3, 'new title', '509658'],
        [100, 3, 'new title', '1'],
      ]);
    });

    it('samples again after the clock of the connector was ahead and is set back', async () => {
      const streamer = await store.addStreamer();
      await store.polls.recordPoll(streamer.id, poll(60 * minute, listed(streamer, 's1', 0)));
      const [stream] = await store.streamsOf(streamer);

      for (const [at, viewerCount] of [
        [minute, 20],
        [2 * minute, 30],
      ] as const)
        await store.streams.saveSeen(store.dataSource, epoch + at, [
          { streamerId: streamer.id, stream: toSeenStream(listed(streamer, 's1', 0, { viewerCount })) },
        ]);

      const samples = await store.list.readHistory(streamer.id, stream!.id);
      expect(samples?.map(({ viewerCount }) => viewerCount)).toEqual([20, 30, 7]);
    });

    it('keeps a name that was reported less than five minutes before, because the list can be older', async () => {
      const streamer = await store.addStreamer({ platformUsername: 'Mira_New', namedAt: new Date(epoch) });
      const nameAfter = async (at: number, userLogin: string): Promise<string> => {
        await store.polls.recordPoll(streamer.id, poll(at, listed(streamer, 's1', 0, { userLogin })));
        return (await store.streamer(streamer)).platformUsername;
      };

      expect(await nameAfter(20 * second, 'mira')).toBe('Mira_New');
      expect(await nameAfter(6 * minute, 'mira_newer')).toBe('mira_newer');
    });
  });
});

describe(StreamMaintenance.name, () => {
  it('removes old offline events that no stream ends at', async () => {
    const streamer = await store.addStreamer();
    const old = Date.now() - 8 * 24 * 60 * minute - epoch;
    await store.recorder.recordEvent(online(streamer, 's1', old));
    for (const at of [old - minute, old + minute, old + 2 * minute])
      await store.recorder.recordEvent(offline(streamer, at));
    await store.recorder.recordEvent(offline(streamer, Date.now() - epoch));

    await new StreamMaintenance(store.dataSource, createLogger('test', 'silent')).run();

    const kept = (await store.offlineEventsOf(streamer)).map(
      ({ occurredAt }) => occurredAt.getTime() - epoch,
    );
    expect(kept.sort((one, other) => one - other)).toEqual([old + minute, expect.any(Number)]);
    await store.recorder.recordEvent(online(streamer, 's2', Date.now() - epoch));
    expect((await store.streamsOf(streamer))[0]?.endedAt?.getTime()).toBe(epoch + old + minute);
  });

  it('keeps an old offline event that may belong to the previous stream', async () => {
    const streamer = await store.addStreamer();
    const old = Date.now() - 8 * 24 * 60 * minute - epoch;
    await store.recorder.recordEvent(online(streamer, 's1', old));
    await store.recorder.recordEvent(online(streamer, 's2', old + minute));
    for (const at of [old + minute + 3 * second, old + minute + 6 * second])
      await store.recorder.recordEvent(offline(streamer, at));

    await new StreamMaintenance(store.dataSource, createLogger('test', 'silent')).run();

    await store.recorder.recordEvent(online(streamer, 's3', Date.now() - epoch));
    expect((await store.streamsOf(streamer))[1]?.endedAt?.getTime()).toBe(epoch + old + minute + 6 * second);
  });

  it('removes old samples even if it cannot remove offline events, and tries again an hour later', async () => {
    const statements: string[] = [];
    const query = (sql: string): Promise<unknown> => {
      statements.push(/DELETE FROM (\w+)/.exec(sql)?.[1] ?? sql);
      return sql.includes('offline_events')
        ? Promise.reject(new Error('too slow'))
        : store.dataSource.query(sql);
    };
    const spied: unknown = { query };
    // Safe cast: maintenance only calls this method.
    const maintenance = new StreamMaintenance(spied as DataSource, createLogger('test', 'silent'));

    await maintenance.run();
    expect(statements).toEqual(['stream_samples', 'removed_streams', 'offline_events', 'stream_samples']);
    await maintenance.run();
    expect(statements.slice(4)).toEqual(['stream_samples', 'removed_streams']);
  });

  it('removes samples that are older than 400 days, in batches, and keeps the stream', async () => {
    const streamer = await store.addStreamer();
    await store.recorder.recordEvent(online(streamer, 's1', 0));
    await store.dataSource.query(
      `INSERT INTO stream_samples SELECT id, at, 1, '', '', '' FROM streams, unnest(ARRAY(
         SELECT now() - interval '400 days 1 minute' - n * interval '1 minute' FROM generate_series(1, 5001) AS n
       ) || ARRAY[now() - interval '399 days 23 hours', now()]) AS at`,
    );

    await new StreamMaintenance(store.dataSource, createLogger('test', 'silent')).run();

    expect(await store.count('stream_samples')).toBe(2);
    expect(await store.streamsOf(streamer)).toHaveLength(1);
  });
});

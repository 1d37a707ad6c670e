import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { eventsPath } from './api.js';
import { SimulatedPlatform, uniqueLogin, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import {
  monitorStreamer,
  readStreamer,
  readStreams,
  streamersPath,
  subscriptionsOf,
  timeForm,
  untilSubscribed,
  type StreamerRecord,
  type StreamPage,
  type StreamRecord,
} from './streamer-records.js';

// Changes from events appear within a second. The remaining time is a margin for a busy machine.
const soon = { timeoutMs: 30_000 };
// Without events, ending a stream takes two polls: one within 45 s, one 25 s later. The remaining time is a margin for a busy machine.
const afterPolling = { timeoutMs: 120_000 };

jest.setTimeout(300_000);

describe('streams', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
    platform = new SimulatedPlatform(stack);
  }, startLimitMs);

  afterAll(() => stack.stop());

  /** Monitors a new streamer and waits for its subscriptions. */
  const monitor = async (): Promise<{ user: SimulatedUser; streamer: StreamerRecord }> => {
    const user = await platform.addUser();
    const streamer = await monitorStreamer(stack, user.login);
    await untilSubscribed(stack, user.id);
    return { user, streamer };
  };

  const untilLive = (streamer: StreamerRecord, time = soon): Promise<StreamRecord> =>
    eventually(async () => {
      expect(await readStreamer(stack, streamer.id)).toMatchObject({ streaming: true });
      const [running] = await readStreams(stack, streamer.id);
      expect(running).toMatchObject({ ended_at: null });
      return running!;
    }, time);

  const untilOffline = (streamer: StreamerRecord, time = soon): Promise<StreamRecord> =>
    eventually(async () => {
      expect(await readStreamer(stack, streamer.id)).toMatchObject({ streaming: false });
      const [ended] = await readStreams(stack, streamer.id);
      expect(ended?.ended_at).toMatch(timeForm);
      return ended!;
    }, time);

  /** Waits until the events of `count` streams are recorded. Until then, the end of a stream can still change. */
  const untilTold = (streamer: StreamerRecord, count: number): Promise<void> =>
    eventually(async () => {
      const [told] = await stack.query(
        `SELECT (SELECT count(announced_by)::int FROM streamer_monitor.streams WHERE streamer_id = $1) AS online,
           (SELECT count(*)::int FROM streamer_monitor.offline_events WHERE streamer_id = $1) AS offline`,
        [streamer.id],
      );
      expect(told).toEqual({ online: count, offline: count });
    }, soon);

  const pollNow = (streamer: StreamerRecord): Promise<unknown> =>
    stack.query('UPDATE streamer_monitor.streamers SET next_poll_at = now() WHERE id = $1', [streamer.id]);

  const secondsUntilPoll = async (streamer: StreamerRecord): Promise<number> => {
    const [row] = await stack.query<{ seconds: number }>(
      'SELECT extract(epoch FROM next_poll_at - now())::float AS seconds FROM streamer_monitor.streamers WHERE id = $1',
      [streamer.id],
    );
    return row!.seconds;
  };

  /** Returns the times of the first poll that missed each stream, in the API's format. */
  const missesOf = async (streamer: StreamerRecord): Promise<string[]> => {
    const rows = await stack.query<{ missed_at: Date }>(
      'SELECT missed_at FROM streamer_monitor.streams WHERE streamer_id = $1 AND missed_at IS NOT NULL',
      [streamer.id],
    );
    return rows.map(({ missed_at }) => `${missed_at.toISOString().slice(0, 19)}+0000`);
  };

  it("start and end within seconds of the platform's streams, at the platform's times", async () => {
    const { user, streamer } = await monitor();
    expect(await readStreams(stack, streamer.id)).toEqual([]);
    expect((await stack.request('GET', `${streamersPath}/${streamer.id}/streams/latest`)).status).toBe(404);

    const { id, started_at } = await platform.goLive(user.id, {
      title: 'A title',
      game_name: 'Chess',
      viewer_count: 7,
    });
    await untilLive(streamer);
    await platform.goOffline(user.id);
    const ended = await untilOffline(streamer);

    expect(ended).toMatchObject({
      stream_id: id,
      user_id: user.id,
      user_login: user.login,
      user_name: user.display_name,
      type: 'live',
      started_at: `${started_at.slice(0, 19)}+0000`,
      tag_ids: null,
      is_mature: false,
    });
    const [truth] = await platform.streamsOf(user.id);
    const endedAt = Date.parse(ended.ended_at!.replace('+0000', 'Z'));
    expect(Math.abs(endedAt - Date.parse(truth!.ended_at!))).toBeLessThan(2_000);
    // A poll that started while the stream was live can still change the title.
    await eventually(async () => {
      const [latest] = await readStreams(stack, streamer.id);
      expect(await stack.request('GET', `${streamersPath}/${streamer.id}/streams/latest`)).toMatchObject({
        json: { ...latest, ended_at: ended.ended_at },
      });
    });
  });

  it('get their title, category, viewers, and picture from the platform, and record how these change', async () => {
    const { user, streamer } = await monitor();
    await platform.goLive(user.id, { title: 'First', game_name: 'Chess', viewer_count: 7 });
    const first = await eventually(async () => {
      const [stream] = await readStreams(stack, streamer.id);
      expect(stream).toMatchObject({ title: 'First', game_name: 'Chess' });
      return stream!;
    }, afterPolling);
    expect(first.thumbnail_url).toContain('{width}x{height}');
    expect(first.language).toMatch(/^[a-z]{2}/);
    await platform.change(user.id, { title: 'Second', viewer_count: 70 });
    await pollNow(streamer);
    const path = `${streamersPath}/${streamer.id}/streams/${first.id}/history`;
    await eventually(async () => {
      const { json } = await stack.request<{ at: string; title: string }[]>('GET', path);
      expect(json.map(({ title }) => title)).toEqual(['First', 'Second']);
      expect(json[0]).toEqual({
        at: expect.stringMatching(timeForm),
        viewer_count: expect.any(Number),
        title: 'First',
        game_id: expect.any(String),
        game_name: 'Chess',
      });
    }, afterPolling);
  });

  it('are detected by polling when every notification is lost', async () => {
    const { user, streamer } = await monitor();
    const { id, started_at } = await platform.goLive(user.id, { notify: false });
    expect(await secondsUntilPoll(streamer)).toBeLessThan(50); // the poll interval is 45 s
    await pollNow(streamer);
    const running = await untilLive(streamer);
    expect(running).toMatchObject({ stream_id: id, started_at: `${started_at.slice(0, 19)}+0000` });

    await platform.goOffline(user.id, { notify: false });
    await pollNow(streamer);
    await eventually(async () => expect(await missesOf(streamer)).not.toEqual([]));
    expect(await secondsUntilPoll(streamer)).toBeLessThan(30); // after a miss, the next poll is 25 s later
    expect(await readStreamer(stack, streamer.id)).toMatchObject({ streaming: true });
    // A miss confirms an earlier one after at least 20 s. Make the first miss that old.
    await stack.query(
      `UPDATE streamer_monitor.streams SET missed_at = missed_at - interval '20 s' WHERE streamer_id = $1`,
      [streamer.id],
    );
    const [firstMiss] = await missesOf(streamer);
    await pollNow(streamer);
    const ended = await untilOffline(streamer);
    // The first miss may now be before the start. The end is then the start, because a stream cannot end before it starts.
    const startedAt = running.started_at;
    expect(ended.ended_at).toBe(firstMiss! > startedAt ? firstMiss : startedAt);
    expect(await readStreams(stack, streamer.id)).toHaveLength(1);
  });

  it('are the same when notifications arrive twice, late, and in the wrong order', async () => {
    await platform.setFaults({ notifications: { duplicate: 0.5, reorder: 0.5 } });
    const { user, streamer } = await monitor();
    for (let count = 0; count < 5; count += 1) {
      await platform.goLive(user.id);
      await platform.goOffline(user.id);
    }
    await platform.setFaults({ notifications: {} });
    const truth = await platform.streamsOf(user.id);
    await eventually(
      async () => {
        const streams = await readStreams(stack, streamer.id);
        expect(streams.map(({ stream_id }) => stream_id).sort()).toEqual(truth.map(({ id }) => id).sort());
        expect(streams.every(({ ended_at }) => ended_at !== null)).toBe(true);
        expect((await readStreamer(stack, streamer.id)).streaming).toBe(false);
      },
      { timeoutMs: 60_000 },
    );
  });

  it('are not changed by events that clients added or by test events', async () => {
    const { user, streamer } = await monitor();
    const event_data = {
      id: '4711',
      broadcaster_user_id: user.id,
      broadcaster_user_login: user.login,
      broadcaster_user_name: user.display_name,
      type: 'live',
      started_at: new Date().toISOString(),
    };
    const body = { event_type: 'stream-online', event_source: 'PlatformSub', event_data };
    expect((await stack.request('POST', eventsPath, { body })).status).toBe(201);
    expect(
      (await stack.request('POST', `${eventsPath}/stream-online/test`, { body: event_data })).status,
    ).toBe(200);
    // The platform's event is sent last. Once the streamer is live, all events above have been processed.
    const { id } = await platform.goLive(user.id);
    await untilLive(streamer);
    expect((await readStreams(stack, streamer.id)).map(({ stream_id }) => stream_id)).toEqual([id]);
    await stack.request('POST', eventsPath, { body: { ...body, event_type: 'stream-offline' } });
    await stack.request('POST', `${eventsPath}/stream-offline/test`, { body: event_data });
    const other = await monitor();
    await platform.goLive(other.user.id);
    await untilLive(other.streamer);
    expect((await readStreamer(stack, streamer.id)).streaming).toBe(true);
  });

  it('follow the streamer’s id after a rename', async () => {
    const { user, streamer } = await monitor();
    const login = uniqueLogin();
    await platform.rename(user.id, login);
    await platform.goLive(user.id);
    await untilLive(streamer);
    await eventually(async () => {
      expect(await readStreamer(stack, streamer.id)).toMatchObject({
        platform_username: login,
        platform_id: user.id,
      });
    }, soon);
    const again = await stack.request('POST', streamersPath, { body: { platform_username: login } });
    expect(again.status).toBe(409);
  });

  it('are listed newest first, with count and links in both directions', async () => {
    const { user, streamer } = await monitor();
    for (let count = 0; count < 5; count += 1) {
      await platform.goLive(user.id);
      await platform.goOffline(user.id);
    }
    await untilTold(streamer, 5);
    const all = await readStreams(stack, streamer.id);
    expect(all.filter(({ ended_at }) => ended_at !== null)).toHaveLength(5);
    const path = `${streamersPath}/${streamer.id}/streams/`;
    const walked: StreamRecord[][] = [];
    let url: string | null = `${path}?page_size=2`;
    let last = '';
    while (url !== null) {
      const { status, json }: { status: number; json: StreamPage } = await stack.request<StreamPage>(
        'GET',
        url,
      );
      expect(status).toBe(200);
      expect(json.count).toBe(5);
      walked.push(json.results);
      last = url;
      url = json.next;
      if (url !== null) expect(new URL(url).pathname).toBe(path);
    }
    expect(walked.flat()).toEqual(all);
    const end = await stack.request<StreamPage>('GET', last);
    const back = await stack.request<StreamPage>('GET', end.json.previous!);
    expect(back.json.results).toEqual(walked.at(-2));
    for (const query of ['page_size=0', 'page_size=x', 'cursor=x'])
      expect((await stack.request('GET', `${path}?${query}`)).status).toBe(400);
  });

  it('end when monitoring is disabled, and are deleted with their streamer and the streamer’s subscriptions', async () => {
    const { user, streamer } = await monitor();
    await platform.goLive(user.id);
    await untilLive(streamer);
    await stack.request('PATCH', `${streamersPath}/${streamer.id}`, { body: { disabled: true } });
    await untilOffline(streamer);
    await eventually(async () => expect(await subscriptionsOf(stack, user.id)).toEqual([]), {
      timeoutMs: 60_000,
    });
    expect(await readStreams(stack, streamer.id)).toHaveLength(1);
    await stack.request('PATCH', `${streamersPath}/${streamer.id}`, { body: { disabled: false } });
    await untilSubscribed(stack, user.id);
    await untilLive(streamer, afterPolling);
    await stack.request('DELETE', `${streamersPath}/${streamer.id}`);
    await eventually(async () => expect(await subscriptionsOf(stack, user.id)).toEqual([]), {
      timeoutMs: 60_000,
    });
    expect(await stack.query('SELECT 1 FROM streamer_monitor.streams WHERE user_id = $1', [user.id])).toEqual(
      [],
    );
  });

  it('are rebuilt from the event log', async () => {
    const { user, streamer } = await monitor();
    for (let count = 0; count < 3; count += 1) {
      await platform.goLive(user.id);
      await platform.goOffline(user.id);
    }
    await untilTold(streamer, 3);
    const before = await readStreams(stack, streamer.id);
    expect(before.map(({ ended_at }) => ended_at !== null)).toEqual([true, true, true]);
    await stack.query('DELETE FROM streamer_monitor.streams WHERE stream_id = $1', [before[1]!.stream_id]);
    const path = `${streamersPath}/rebuild`;
    expect((await stack.request('POST', path)).status).toBe(202);
    await eventually(
      async () => {
        expect(await stack.request('GET', path)).toMatchObject({ json: { state: 'done' } });
      },
      { timeoutMs: 60_000 },
    );
    const stripped = (streams: StreamRecord[]) =>
      streams.map(({ stream_id, started_at, ended_at }) => ({ stream_id, started_at, ended_at }));
    expect(stripped(await readStreams(stack, streamer.id))).toEqual(stripped(before));
  });
});

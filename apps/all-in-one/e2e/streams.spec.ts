import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
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
    const other = await monitorStreamer(stack, (await platform.addUser()).login);
    const foreign = await stack.request('GET', end.json.previous!.replace(streamer.id, other.id));
    expect(foreign.status).toBe(400);
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

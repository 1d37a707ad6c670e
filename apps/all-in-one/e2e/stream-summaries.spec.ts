import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { v4 as uuidV4, v7 as uuidV7 } from 'uuid';
import { eventsPath, newEvent } from './api.js';
import { SimulatedPlatform } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import {
  monitorStreamer,
  readStreams,
  streamersPath,
  untilSubscribed,
  type StreamRecord,
} from './streamer-records.js';

const patiently = { timeoutMs: 60_000 };

jest.setTimeout(300_000);

interface Summary {
  ended_at: string | null;
  duration_seconds: number;
  partial: boolean;
  events: { total: number; by_type: Record<string, number> };
  followers: number;
  bits: { total: number; top_cheerers: unknown[] };
  raids: { incoming: { count: number; viewers: number }; outgoing: { count: number } };
  viewers: { peak: number | null; average: number | null };
  chat: { messages: number; chatters: number };
}

describe('the summary of a stream', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
    platform = new SimulatedPlatform(stack);
  }, startLimitMs);

  afterAll(() => stack.stop());

  const summaryPath = (streamer: string, stream: string): string =>
    `${streamersPath}/${streamer}/streams/${stream}/summary`;

  it('counts the events of the channel during the stream, and follows late events and corrections of the end', async () => {
    const user = await platform.addUser();
    const streamer = await monitorStreamer(stack, user.login);
    await untilSubscribed(stack, user.id);
    await platform.goLive(user.id, { viewer_count: 42 });
    const untilRecorded = (check: (stream: StreamRecord) => void): Promise<StreamRecord> =>
      eventually(async () => {
        const [stream] = await readStreams(stack, streamer.id);
        check(stream!);
        return stream!;
      }, patiently);
    const { id } = await untilRecorded((stream) => expect(stream.viewer_count).toBe(42));
    const summarize = async (): Promise<Summary> =>
      (await stack.request<Summary>('GET', summaryPath(streamer.id, id))).json;

    const channel = { broadcaster_user_id: user.id };
    const add = (event_type: string, event_data: object): Promise<unknown> =>
      stack.request('POST', eventsPath, { body: { event_type, event_source: 'client', event_data } });
    await add('channel-follow', { ...channel, user_id: '1', user_name: 'One' });
    await add('channel-cheer', { ...channel, user_id: '2', user_name: 'Two', bits: 50, is_anonymous: false });
    await add('channel-chat-message', { ...channel, chatter_user_id: '2' });
    await add('channel-raid', { from_broadcaster_user_id: '3', to_broadcaster_user_id: user.id, viewers: 5 });
    await stack.request('POST', `${eventsPath}/channel-follow/test`, { body: channel });

    expect(await summarize()).toMatchObject({
      ended_at: null,
      partial: false,
      events: { by_type: { 'channel-follow': 1, 'channel-cheer': 1, 'channel-raid': 1 } },
      followers: 1,
      bits: { total: 50, top_cheerers: [{ user_id: '2', user_name: 'Two', total: 50 }] },
      raids: { incoming: { count: 1, viewers: 5 }, outgoing: { count: 0 } },
      viewers: { peak: 42, average: 42 },
      chat: { messages: 1, chatters: 1 },
    });

    // The summary must count only the events that the token can read.
    const summarizeWith = async (limits: object): Promise<Summary> => {
      const body = { name: 'limited', scopes: ['events:read', 'streamers:read'], ...limits };
      const { key: token } = (await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body })).json;
      return (await stack.request<Summary>('GET', summaryPath(streamer.id, id), { token })).json;
    };
    expect(await summarizeWith({ event_types: ['channel-follow'] })).toMatchObject({
      events: { total: 1, by_type: { 'channel-follow': 1 } },
      followers: 1,
      bits: { total: 0 },
      chat: { messages: 0 },
    });
    expect(await summarizeWith({ channel_ids: ['3'] })).toMatchObject({
      events: { total: 1, by_type: { 'channel-raid': 1 } },
      followers: 0,
    });
    expect(await summarize()).toMatchObject({ followers: 1, bits: { total: 50 } });

    await platform.goOffline(user.id);
    await untilRecorded((stream) => expect(stream.ended_at).not.toBeNull());
    // Move the end of the stream one hour back. The service then saves the summary.
    const moveBy = (column: string, interval: string): Promise<unknown> =>
      stack.query(`UPDATE streamer_monitor.streams SET ${column} = ${column} + $2::interval WHERE id = $1`, [
        id,
        interval,
      ]);
    await moveBy('started_at', '-3 hours');
    await moveBy('ended_at', '-1 hour');
    expect(await summarize()).toMatchObject({ followers: 0, events: { total: 0 } });

    const late = (minutesAgo: number): Promise<unknown> =>
      stack.storeEvents([
        newEvent({
          eventId: uuidV4(),
          occurredAt: Date.now() - minutesAgo * 60_000,
          time: Date.now() - minutesAgo * 60_000,
          eventType: 'channel-follow',
          eventData: JSON.stringify({ ...channel, user_id: '4' }),
        }),
      ]);
    await late(90);
    expect(await summarize()).toMatchObject({ followers: 1 });
    await late(50);
    expect(await summarize()).toMatchObject({ followers: 1 });
    await moveBy('ended_at', '30 minutes');
    expect(await summarize()).toMatchObject({ followers: 2 });
  });

  it('does not exist for unknown or malformed ids', async () => {
    const streamer = await monitorStreamer(stack, (await platform.addUser()).login);

    for (const path of [
      summaryPath(streamer.id, uuidV7()),
      summaryPath(uuidV7(), uuidV7()),
      summaryPath(streamer.id, 'no-id'),
    ])
      expect((await stack.request('GET', path)).status).toBe(404);
    expect((await stack.request('POST', summaryPath(streamer.id, uuidV7()))).status).toBe(405);
  });
});

import type { StreamMessage, StreamSummaryMessage } from '@stream-events/contracts';
import { toStreamSummary } from './stream-summary.dto.js';

const startedAt = Date.UTC(2026, 10, 21, 18);

const stream: StreamMessage = {
  ...{
    id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
    streamId: '41375541868',
    userId: '4711',
    userLogin: 'mira',
  },
  ...{ userName: 'Mira', gameId: '', gameName: '', type: 'live', title: '', viewerCount: 0, startedAt },
  ...{ endedAt: startedAt + 90_500, language: '', thumbnailUrl: '', tagIds: null, isMature: false },
};

const summary: StreamSummaryMessage = {
  isPartial: true,
  events: 9,
  eventTypes: [
    { eventType: 'channel-follow', count: 6 },
    { eventType: '__proto__', count: 3 },
  ],
  followers: 6,
  tiers: [
    { tier: '1000', new: 1, gifted: 2, renewed: 3 },
    { tier: '2000', new: 4, gifted: 0, renewed: 0 },
  ],
  gifts: { total: 5, anonymous: 1, top: [{ userId: '1', userName: 'One', total: 4 }] },
  bits: { total: 100, anonymous: 0, top: [{ userId: '2', userName: null, total: 100 }] },
  incomingRaids: {
    ...{ count: 1, viewers: 52 },
    top: [{ at: startedAt, channelId: '83710', channelName: 'Raider', viewers: 52 }],
  },
  outgoingRaids: { count: 0, viewers: 0, top: [] },
  chatMessages: 3,
  chatters: 2,
};

describe(toStreamSummary.name, () => {
  it('prints what the monitor and the event store know, in the form of the API', () => {
    const printed = JSON.stringify(toStreamSummary({ stream, peak: 312, average: 201.46 }, summary));

    expect(JSON.parse(printed)).toEqual({
      id: stream.id,
      stream_id: '41375541868',
      started_at: '2026-11-21T18:00:00+0000',
      ended_at: '2026-11-21T18:01:30+0000',
      duration_seconds: 91,
      partial: true,
      events: { total: 9, by_type: JSON.parse('{"channel-follow":6,"__proto__":3}') as unknown },
      followers: 6,
      subscriptions: { total: 10, by_tier: summary.tiers },
      gifts: { total: 5, anonymous: 1, top_givers: [{ user_id: '1', user_name: 'One', total: 4 }] },
      bits: { total: 100, anonymous: 0, top_cheerers: [{ user_id: '2', user_name: null, total: 100 }] },
      raids: {
        incoming: {
          ...{ count: 1, viewers: 52 },
          top: [{ at: '2026-11-21T18:00:00+0000', user_id: '83710', user_name: 'Raider', viewers: 52 }],
        },
        outgoing: { count: 0, viewers: 0, top: [] },
      },
      viewers: { peak: 312, average: 201.5 },
      chat: { messages: 3, chatters: 2 },
    });
  });

  it('counts the duration of a running stream until now', () => {
    const running = { ...stream, startedAt: Date.now() - 60_000, endedAt: null };

    const { ended_at, duration_seconds, viewers } = toStreamSummary(
      { stream: running, peak: null, average: null },
      summary,
    );

    expect({ ended_at, viewers }).toEqual({ ended_at: null, viewers: { peak: null, average: null } });
    expect(duration_seconds).toBeGreaterThanOrEqual(60);
    expect(duration_seconds).toBeLessThan(120);
  });
});

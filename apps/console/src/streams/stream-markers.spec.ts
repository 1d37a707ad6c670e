import type { EventRecord } from '@stream-events/client';
import { groupMarkers } from './stream-markers.js';

const start = Date.UTC(2026, 10, 20, 18);
const range = { start, end: start + 3_600_000 };

const event = (
  minutes: number,
  event_type: string,
  event_data: Record<string, unknown> = {},
): EventRecord => ({
  id: `${minutes} ${event_type}`,
  event_id: null,
  event_type,
  event_source: 'PlatformSub',
  event_data,
  created: `${new Date(start + minutes * 60_000).toISOString().slice(0, 19)}+0000`,
  origin: 'platform',
});

describe('groupMarkers', () => {
  it('joins events of one kind that are close to each other, and keeps the others apart', () => {
    const newestFirst = [
      event(40, 'channel-raid'),
      event(12, 'channel-hype_train-begin'),
      event(11, 'channel-subscription-gift'),
      event(10, 'channel-subscribe'),
    ];
    expect(
      groupMarkers(newestFirst, range, 10).map(({ kind, events, ...times }) => [kind, events.length, times]),
    ).toEqual([
      ['subscription', 2, { start: start + 600_000, end: start + 660_000 }],
      ['hype train', 1, { start: start + 720_000, end: start + 720_000 }],
      ['raid', 1, { start: start + 2_400_000, end: start + 2_400_000 }],
    ]);
    expect(groupMarkers(newestFirst, range, 60)).toHaveLength(4);
  });

  it('counts a gift once, and ignores other types', () => {
    const events = [
      event(3, 'channel-follow'),
      event(2, 'channel-subscribe', { is_gift: true }),
      event(1, 'channel-subscription-gift', { total: 1 }),
    ];
    expect(groupMarkers(events, range, 10).map(({ events: grouped }) => grouped.map(({ id }) => id))).toEqual(
      [['1 channel-subscription-gift']],
    );
  });
});

import type { LiveEvent } from '@stream-events/client';
import { addLive, addOlder, emptyFeed, hold, release, restart, type Feed } from './feed-rows.js';

const limits = { following: 5, held: 20 };

/** Creates the event with this number. The events are one second apart. */
const event = (index: number, origin: LiveEvent['origin'] = 'platform'): LiveEvent =>
  // Safe cast: the feed never reads the event data.
  ({
    id: `id-${index}`,
    event_id: null,
    event_type: 'channel-follow',
    event_source: 'PlatformSub',
    event_data: {},
    created: `2026-11-21T07:30:${String(index).padStart(2, '0')}+0000`,
    origin,
    position: undefined,
  }) as LiveEvent;
const events = (...indexes: number[]): LiveEvent[] => indexes.map((index) => event(index));
const idsOf = ({ rows }: Pick<Feed, 'rows'>): number[] =>
  rows.map(({ event: { id } }) => Number(id?.slice(3)));

describe('the feed', () => {
  it('shows live events above the list, each once', () => {
    let feed = addLive(emptyFeed, events(4, 5), limits);
    feed = restart(feed, { results: events(5, 4, 3), next: { cursor: 'a' } });
    feed = addLive(feed, events(5, 6), limits);
    expect(idsOf(feed)).toEqual([6, 5, 4, 3]);
    feed = addOlder(feed, feed.older, { results: events(3, 2), next: undefined });
    expect(idsOf(feed)).toEqual([6, 5, 4, 3, 2]);
    expect(feed.older).toEqual({ kind: 'end' });
  });

  it('shows every replay as a row of its own', () => {
    const feed = addLive(emptyFeed, [event(1), event(1, 'replay'), event(1, 'replay')], limits);
    expect(idsOf(feed)).toEqual([1, 1, 1]);
    expect(new Set(feed.rows.map(({ key }) => key)).size).toBe(3);
  });

  it('keeps the newest rows, and continues the list below them', () => {
    const feed = addLive(emptyFeed, events(1, 2, 3, 4, 5, 6, 7), limits);
    expect(idsOf(feed)).toEqual([7, 6, 5, 4, 3]);
    // The feed reads from one second after the last row, so the list returns that row again. The feed drops the repeated row.
    expect(feed.older).toEqual({ kind: 'until', until: '2026-11-21T07:30:04.000Z' });
    expect(idsOf(addOlder(feed, feed.older, { results: events(3, 2, 1), next: undefined }))).toEqual([
      7, 6, 5, 4, 3, 2, 1,
    ]);
  });

  it('lets new events wait, and then shows them', () => {
    let feed = hold(addLive(emptyFeed, events(1), limits));
    feed = addLive(addLive(feed, events(2), limits), events(3), limits);
    expect([idsOf(feed), feed.waitingCount]).toEqual([[1], 2]);
    feed = release(feed, limits);
    expect([idsOf(feed), feed.waitingCount, feed.isHeld]).toEqual([[3, 2, 1], 0, false]);
  });

  it('drops a page that arrives after the rows above it were trimmed', () => {
    const start = restart(emptyFeed, { results: events(10, 9, 8, 7, 6), next: { cursor: 'a' } });
    const held = addLive(hold(start), events(11, 12, 13), limits);
    const trimmed = release(held, limits);
    const feed = addOlder(trimmed, held.older, { results: events(5, 4), next: undefined });
    expect(idsOf(feed)).toEqual([13, 12, 11, 10, 9]);
    expect(feed.older).toEqual({ kind: 'until', until: '2026-11-21T07:30:10.000Z' });
  });

  it('leaves no hole when more events waited than it keeps', () => {
    let feed = hold(addLive(emptyFeed, events(1), limits));
    feed = addLive(feed, events(2, 3, 4, 5, 6, 7, 8), limits);
    expect([feed.waiting.length, feed.waitingCount]).toEqual([5, 7]);
    feed = release(feed, limits);
    expect(idsOf(feed)).toEqual([8, 7, 6, 5, 4]);
    expect(feed.older).toEqual({ kind: 'until', until: '2026-11-21T07:30:05.000Z' });
  });
});

import type { EventRecord, LiveEvent } from '@stream-events/client';

export interface FeedRow {
  /** Row identity. Each replay of an event has its own row. */
  key: string;
  event: EventRecord;
  /** Whether the page received the event live. */
  isLive: boolean;
}

/**
 * Where to continue reading older events. `start`: the newest page; `page`: the page for `query`; `until`: the events before the
 * time `until`; `end`: no older events exist.
 */
export type OlderEvents =
  | { kind: 'start' | 'end' }
  | { kind: 'page'; query: Readonly<Record<string, string>> }
  | { kind: 'until'; until: string };

/** A page of the event list, newest first. `next` is the query for the next page. */
export interface OlderPage {
  results: readonly EventRecord[];
  next: Readonly<Record<string, string>> | undefined;
}

export interface Feed {
  /** Newest first. */
  rows: readonly FeedRow[];
  /** Events that arrived while the feed was held, newest first. Above a limit, the oldest are dropped. */
  waiting: readonly FeedRow[];
  waitingCount: number;
  /** Whether new events wait, because the user has paused the feed, scrolled down, or opened an event. */
  isHeld: boolean;
  older: OlderEvents;
}

/** Limits the rows in memory. An event is usually about 1 kB, and at most 256 KiB. */
export interface FeedLimits {
  /** Maximum number of rows while new events appear at the top. */
  following: number;
  /** Maximum number of rows while the user reads older events. */
  held: number;
}

export const feedLimits: FeedLimits = { following: 1_000, held: 20_000 };

export const emptyFeed: Feed = {
  rows: [],
  waiting: [],
  waitingCount: 0,
  isHeld: false,
  older: { kind: 'start' },
};

let replays = 0;

/** Converts live events to rows. Live events arrive oldest first; rows are newest first. */
export function toLiveRows(events: readonly LiveEvent[]): FeedRow[] {
  return events.map((event) => ({ key: keyOf(event), event, isLive: true })).reverse();
}

export function toOlderRows(events: readonly EventRecord[]): FeedRow[] {
  return events.map((event) => ({ key: keyOf(event), event, isLive: false }));
}

function keyOf({ id, event_id, origin }: EventRecord): string {
  const key = id ?? event_id ?? '';
  return origin === 'replay' ? `replay-${(replays += 1)}-${key}` : key;
}

/** Adds live events at the top. While the feed is held, adds them to the waiting events. */
export function addLive(feed: Feed, events: readonly LiveEvent[], limits = feedLimits): Feed {
  if (feed.isHeld) {
    const fresh = withoutKnown(toLiveRows(events), feed.waiting, feed.rows);
    const waiting = [...fresh, ...feed.waiting].slice(0, limits.following);
    return { ...feed, waiting, waitingCount: feed.waitingCount + fresh.length };
  }
  const fresh = withoutKnown(toLiveRows(events), feed.rows);
  return trim({ ...feed, rows: [...fresh, ...feed.rows] }, limits);
}

/** Adds a page of older events at the bottom. Drops the page if rows were trimmed during the read: the page then no longer follows them. */
export function addOlder(feed: Feed, from: OlderEvents, page: OlderPage): Feed {
  return feed.older === from ? append(feed, page) : feed;
}

function append(feed: Feed, { results, next }: OlderPage): Feed {
  const fresh = withoutKnown(toOlderRows(results), feed.rows, feed.waiting);
  const older: OlderEvents = next ? { kind: 'page', query: next } : { kind: 'end' };
  return { ...feed, rows: [...feed.rows, ...fresh], older };
}

/** Replaces the listed rows with the newest page. Live rows stay above it. */
export function restart(feed: Feed, page: OlderPage): Feed {
  const live = { ...feed, rows: feed.rows.filter(({ isLive }) => isLive) };
  return append(live, page);
}

export function hold(feed: Feed): Feed {
  return feed.isHeld ? feed : { ...feed, isHeld: true };
}

/** Shows the waiting events. After this, new events appear at the top. */
export function release(feed: Feed, limits = feedLimits): Feed {
  if (!feed.isHeld) return feed;
  const { waiting, waitingCount } = feed;
  // If waiting events were dropped, events are missing above the old rows. Drop the old rows and reload older events.
  const rows = waitingCount > waiting.length ? waiting : [...waiting, ...feed.rows];
  const older = rows === waiting ? continueBelow(waiting) : feed.older;
  return trim({ rows, older, waiting: [], waitingCount: 0, isHeld: false }, limits);
}

function trim(feed: Feed, { following }: FeedLimits): Feed {
  if (feed.rows.length <= following) return feed;
  const rows = feed.rows.slice(0, following);
  return { ...feed, rows, older: continueBelow(rows) };
}

/**
 * Returns where to continue: one second after the last row, because record times can lack fractions of a second. `append` drops repeated
 * events.
 */
function continueBelow(rows: readonly FeedRow[]): OlderEvents {
  const last = rows.findLast(({ event }) => event.origin !== 'replay');
  if (!last) return { kind: 'start' };
  const at = Date.parse(last.event.created.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return { kind: 'until', until: new Date(at + 1_000).toISOString() };
}

function withoutKnown(rows: readonly FeedRow[], ...known: (readonly FeedRow[])[]): FeedRow[] {
  const keys = new Set(known.flatMap((each) => each.map(({ key }) => key)));
  return rows.filter(({ key }) => !keys.has(key));
}

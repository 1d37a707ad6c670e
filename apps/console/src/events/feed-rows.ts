import type { EventRecord, LiveEvent } from '@stream-events/client';

/** An event in the feed. */
export interface FeedRow {
  /** Identifies the row. Each replay of an event gets a separate row. */
  key: string;
  event: EventRecord;
  /** Whether this page received the event live. */
  isLive: boolean;
}

/**
 * Where reading older events continues. `start`: at the newest page; `page`: at the page for `query`; `until`: before the time `until`;
 * `end`: there are no older events.
 */
export type OlderEvents =
  | { kind: 'start' | 'end' }
  | { kind: 'page'; query: Readonly<Record<string, string>> }
  | { kind: 'until'; until: string };

/** A page of the event list, newest first, with the query for the next page. */
export interface OlderPage {
  results: readonly EventRecord[];
  next: Readonly<Record<string, string>> | undefined;
}

/** The content of the feed. */
export interface Feed {
  /** Newest first. */
  rows: readonly FeedRow[];
  /** Events that arrived while the feed was held, newest first. When there are too many, the oldest are dropped. */
  waiting: readonly FeedRow[];
  waitingCount: number;
  /** Whether new events wait because the user reads older events. */
  isHeld: boolean;
  older: OlderEvents;
}

/** Limits on the rows that the page keeps in memory. Most events are about 1 kB; the maximum is 256 KiB. */
export interface FeedLimits {
  /** The maximum number of rows while new events appear at the top. */
  following: number;
  /** The maximum number of rows while the user reads older events. */
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

/** Converts live events, which arrive oldest first, to rows, newest first. */
export function toLiveRows(events: readonly LiveEvent[]): FeedRow[] {
  return events.map((event) => ({ key: keyOf(event), event, isLive: true })).reverse();
}

/** Converts the events on a page of the list to rows. */
export function toOlderRows(events: readonly EventRecord[]): FeedRow[] {
  return events.map((event) => ({ key: keyOf(event), event, isLive: false }));
}

function keyOf({ id, event_id, origin }: EventRecord): string {
  const key = id ?? event_id ?? '';
  return origin === 'replay' ? `replay-${(replays += 1)}-${key}` : key;
}

/** Adds live events to the top of the feed or, while the feed is held, to the waiting events. */
export function addLive(feed: Feed, events: readonly LiveEvent[], limits = feedLimits): Feed {
  if (feed.isHeld) {
    const fresh = withoutKnown(toLiveRows(events), feed.waiting, feed.rows);
    const waiting = [...fresh, ...feed.waiting].slice(0, limits.following);
    return { ...feed, waiting, waitingCount: feed.waitingCount + fresh.length };
  }
  const fresh = withoutKnown(toLiveRows(events), feed.rows);
  return trim({ ...feed, rows: [...fresh, ...feed.rows] }, limits);
}

/** Adds a page of older events at the bottom. */
export function addOlder(feed: Feed, { results, next }: OlderPage): Feed {
  const fresh = withoutKnown(toOlderRows(results), feed.rows, feed.waiting);
  const older: OlderEvents = next ? { kind: 'page', query: next } : { kind: 'end' };
  return { ...feed, rows: [...feed.rows, ...fresh], older };
}

/** Replaces the rows that were read from the list with the newest page of the list. Keeps the rows that arrived live, above the page. */
export function restart(feed: Feed, page: OlderPage): Feed {
  const live = { ...feed, rows: feed.rows.filter(({ isLive }) => isLive) };
  return addOlder(live, page);
}

/** Holds the feed: new events wait instead of appearing. */
export function hold(feed: Feed): Feed {
  return feed.isHeld ? feed : { ...feed, isHeld: true };
}

/** Releases the feed: shows the waiting events, and then new events at the top. */
export function release(feed: Feed, limits = feedLimits): Feed {
  if (!feed.isHeld) return feed;
  const { waiting, waitingCount } = feed;
  // If waiting events were dropped, there is a gap between the waiting events and the rows. Drop the rows, and read older events from the
  // list.
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
 * Returns where reading older events continues: one second after the last row, because the list accepts only whole seconds. `addOlder`
 * skips the events that the feed already contains.
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

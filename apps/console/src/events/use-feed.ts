import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { api, call } from '../api/api.js';
import { isTemporary } from '../api/api-error.js';
import { useLiveEvents } from '../live/live.js';
import type { EventFilters } from './event-filters.js';
import {
  addLive,
  addOlder,
  emptyFeed,
  feedLimits,
  hold,
  release,
  restart,
  type Feed,
  type OlderEvents,
  type OlderPage,
} from './feed-rows.js';

const pageSize = 100;
const retryMs = 5_000;

export interface FeedControl {
  feed: Feed;
  /** Error of the last read; undefined if it succeeded. */
  error: unknown;
  isLoading: boolean;
  /** Repeats the read that failed. */
  readAgain: () => void;
  /** Reads the next older events. Does nothing during a read, after a failed read, or when the feed has 20,000 rows. */
  loadOlder: () => void;
  /** True makes new events wait; false shows them. */
  setHeld: (isHeld: boolean) => void;
}

/**
 * Follows live events, and lists older events below them.
 *
 * Reads the list when the page opens, and again when the connection delivers its first message. Otherwise events that were stored between
 * the first read and the connection would be missing. After that, the connection resumes without missing events. After a gap, the feed
 * starts again.
 */
export function useFeed(filters: EventFilters): FeedControl {
  const [feed, setFeed] = useState(emptyFeed);
  const [error, setError] = useState<unknown>();
  const [isLoading, setIsLoading] = useState(true);
  // The newest read. Results of earlier reads are discarded.
  const reading = useRef<object | undefined>(undefined);
  const failed = useRef<OlderEvents>({ kind: 'start' });
  const isConnected = useRef(false);

  const read = async (from: OlderEvents): Promise<void> => {
    if (from.kind === 'end') return;
    const mark = (reading.current = {});
    setIsLoading(true);
    try {
      const page = await readPage(filters, from);
      if (reading.current !== mark) return;
      setFeed((current) => (from.kind === 'start' ? restart(current, page) : addOlder(current, from, page)));
      setError(undefined);
    } catch (thrown) {
      if (reading.current !== mark) return;
      failed.current = from;
      setError(thrown);
    } finally {
      if (reading.current === mark) {
        reading.current = undefined;
        setIsLoading(false);
      }
    }
  };

  const readStart = useEffectEvent(() => void read({ kind: 'start' }));
  // Rows may have been trimmed since the failed read, so older events are read from where the feed ends now.
  const readAgain = (): void => void read(failed.current.kind === 'start' ? failed.current : feed.older);
  const onRetryDue = useEffectEvent(readAgain);
  useEffect(() => {
    // In development, React mounts each component twice. The timer prevents a second read.
    const timer = setTimeout(() => readStart());
    return () => {
      clearTimeout(timer);
      reading.current = undefined;
    };
  }, []);
  useEffect(() => {
    if (!isTemporary(error)) return;
    const timer = setTimeout(() => onRetryDue(), retryMs);
    return () => clearTimeout(timer);
  }, [error]);

  useLiveEvents(filters, {
    onEvents: (events) => setFeed((current) => addLive(current, events)),
    onConnect: () => {
      if (isConnected.current) {
        if (error) readAgain();
        return;
      }
      isConnected.current = true;
      void read({ kind: 'start' });
    },
    onGap: () => {
      setFeed(({ isHeld }) => ({ ...emptyFeed, isHeld }));
      // `onConnect` can follow before the next render, and then still sees the error of an earlier read.
      failed.current = { kind: 'start' };
      void read({ kind: 'start' });
    },
  });

  return {
    feed,
    error,
    isLoading,
    readAgain,
    loadOlder: () => {
      if (!reading.current && !error && feed.rows.length < feedLimits.held) void read(feed.older);
    },
    setHeld: (isHeld) => setFeed(isHeld ? hold : (current) => release(current)),
  };
}

async function readPage(filters: EventFilters, from: OlderEvents): Promise<OlderPage> {
  const start: EventFilters = from.kind === 'page' ? from.query : filters;
  const until = from.kind === 'until' && { until: earlier(from.until, filters.until) };
  const query = { ...start, ...until, page_size: pageSize };
  const { results, next } = await call(api().GET('/api/v1/platform-events', { params: { query } }));
  return { results, next: next ? Object.fromEntries(new URL(next).searchParams) : undefined };
}

function earlier(one: string, other: string | undefined): string {
  return other !== undefined && Date.parse(other) < Date.parse(one) ? other : one;
}

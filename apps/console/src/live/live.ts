import type { LiveFilters } from '@stream-events/client';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { sessionStore } from '../session/session.js';
import { LiveFeed, type LiveListener, type LiveState } from './live-feed.js';

// An unused connection stays open for this time, so that the next page with the same filters can reuse the connection.
const lingerMs = 1_000;

/** This tab's live connections, by filters. */
class LiveConnections {
  private readonly feeds = new Map<string, LiveFeed>();
  private readonly observers = new Set<() => void>();

  constructor() {
    // A new session has a new token, so close all connections.
    sessionStore.subscribe(() => {
      for (const feed of this.feeds.values()) feed.stop();
      this.feeds.clear();
      this.announce();
    });
  }

  /** Returns the worst state of all connections; `live` if there are none. */
  get state(): LiveState {
    const states = [...this.feeds.values()].map(({ state }) => state);
    return (
      (['refused', 'reconnecting', 'connecting'] as const).find((state) => states.includes(state)) ?? 'live'
    );
  }

  /** Returns a function that stops following. */
  follow(filters: LiveFilters, listener: LiveListener): () => void {
    const key = JSON.stringify(filters);
    const feed = this.feeds.get(key) ?? this.open(key, filters);
    feed.add(listener);
    return () => {
      feed.remove(listener);
      setTimeout(() => this.closeUnused(key, feed), lingerMs);
    };
  }

  subscribe(observer: () => void): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  private open(key: string, filters: LiveFilters): LiveFeed {
    const feed = new LiveFeed(filters, () => this.announce());
    this.feeds.set(key, feed);
    return feed;
  }

  private closeUnused(key: string, feed: LiveFeed): void {
    if (!feed.isUnused) return;
    feed.stop();
    if (this.feeds.get(key) === feed) this.feeds.delete(key);
    this.announce();
  }

  private announce(): void {
    for (const observer of this.observers) observer();
  }
}

export const liveConnections = new LiveConnections();

/**
 * Follows live events while the component is mounted. Changed filters switch to another connection; changed callbacks keep the connection.
 */
export function useLiveEvents(filters: LiveFilters, listener: LiveListener): void {
  const onEvents = useEffectEvent((...args: Parameters<NonNullable<LiveListener['onEvents']>>) =>
    listener.onEvents?.(...args),
  );
  const onConnect = useEffectEvent(() => listener.onConnect?.());
  const onGap = useEffectEvent(() => listener.onGap?.());
  const key = JSON.stringify(filters);
  useEffect(() => {
    const parsed = JSON.parse(key) as LiveFilters; // Safe cast: `key` contains printed filters.
    return liveConnections.follow(parsed, {
      onEvents: (events) => onEvents(events),
      onConnect: () => onConnect(),
      onGap: () => onGap(),
    });
  }, [key]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (observer) => liveConnections.subscribe(observer),
    () => liveConnections.state,
  );
}

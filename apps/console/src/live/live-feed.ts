import {
  closeCodes,
  LiveError,
  type LiveEvent,
  type LiveEvents,
  type LiveFilters,
} from '@stream-events/client';
import { client } from '../api/api.js';
import { sessionStore } from '../session/session.js';

/** A component's handlers for live events. */
export interface LiveListener {
  /** Called with batches of new events, oldest first. A batch ends after 100 ms or at 1,000 events. */
  onEvents?: (events: readonly LiveEvent[]) => void;
  /**
   * Called after the first connect and after each reconnect, when the connection starts to deliver events. Called immediately if it is
   * already live.
   */
  onConnect?: () => void;
  /** Called when events were missed and the stream no longer has them. The component must read the list again. */
  onGap?: () => void;
}

export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'refused';

// Events are rendered in batches of this time. Shorter batches do not make a feed easier to follow, but slow down typing and scrolling.
const batchMs = 100;
// Background tabs can run timers as rarely as once a minute. End a batch at this size too.
const maxBatch = 1_000;

/** One live connection for all components with the same filters. Reconnects and resumes at its last position. */
export class LiveFeed {
  state: LiveState = 'connecting';
  private readonly listeners = new Set<LiveListener>();
  private readonly events: LiveEvents;
  private batch: LiveEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    filters: LiveFilters,
    private readonly onChange: () => void,
  ) {
    this.events = client().live({
      filters,
      // This name appears in the list of live connections.
      name: 'console',
      transport: 'web-socket',
      onConnect: () => {
        this.become('live');
        for (const listener of this.listeners) listener.onConnect?.();
      },
      onRetry: () => this.become('reconnecting'),
      onGap: () => {
        for (const listener of this.listeners) listener.onGap?.();
      },
    });
    void this.run();
  }

  get isUnused(): boolean {
    return this.listeners.size === 0;
  }

  add(listener: LiveListener): void {
    this.listeners.add(listener);
    if (this.state === 'live') listener.onConnect?.();
  }

  remove(listener: LiveListener): void {
    this.listeners.delete(listener);
  }

  stop(): void {
    clearTimeout(this.timer);
    void this.events.return();
  }

  private async run(): Promise<void> {
    try {
      for await (const event of this.events) this.collect(event);
    } catch (error) {
      if (error instanceof LiveError && error.closeCode === closeCodes.unauthenticated) sessionStore.end();
      // The service rejected the connection, usually because of its filters. The event list uses the same filters and shows the reason.
      this.become('refused');
    }
  }

  private collect(event: LiveEvent): void {
    this.batch.push(event);
    if (this.batch.length >= maxBatch) this.deliver();
    else this.timer ??= setTimeout(() => this.deliver(), batchMs);
  }

  private deliver(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.batch;
    this.batch = [];
    for (const listener of this.listeners) listener.onEvents?.(batch);
  }

  private become(state: LiveState): void {
    this.state = state;
    this.onChange();
  }
}

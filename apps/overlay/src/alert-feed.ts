import type { Client, LiveControl, LiveEvent, LiveEvents } from '@stream-events/client';
import { describeEvent, parseTime, printUserText, type DescribedEvent } from '@stream-events/sentences';
import type { Alert, AlertQueue } from './alert-queue.js';
import type { PositionStore } from './position-store.js';
import { RepeatedEvents } from './repeated-events.js';
import type { Settings } from './settings.js';

export interface FeedParts {
  client: Client;
  settings: Settings;
  queue: AlertQueue;
  store: PositionStore;
  onControl: (control: LiveControl) => void;
  /** Called when the connection's state changes, with a text for `debug`. */
  onState: (state: string) => void;
}

/** The feed skips events older than this, so that the first start of the day does not show last night's alerts. */
const maxAgeMs = 600_000;
// While no alert waits, the position is saved at this interval. After a reload, the source reads the events since the last save again.
const saveMs = 5_000;
const clockLimitMs = 10_000;
const retryMs = 2_000;
// If this computer's clock jumps by more than this, the feed reads the service's clock again. Drift since the last reading is normally far
// smaller. The limit must be far below `maxAgeMs`.
const maxClockStepMs = 60_000;
// Before the feed skips an event as too old, it reads the service's clock again if the last reading is older than this: the service's clock
// may have been set back.
const clockValidMs = 60_000;

/**
 * Receives a source's events and saves its position.
 *
 * ```
 *  service ──▶ feed ──▶ queue ──▶ shown
 *                ▲                  │
 *                └──── position ◀───┘  saved when an alert is about to be shown
 * ```
 *
 * The saved position is that of the last alert shown. After a reload, the page receives the waiting alerts again, but none that was already
 * shown. While no alert waits, the feed saves the connection's position.
 *
 * When the queue is full, the feed drops events. As soon as the queue is at most half full, the feed reads the dropped events again, except
 * replays. Until then, the connection stays open, because it also carries the controls.
 */
export class AlertFeed {
  private events: LiveEvents | undefined;
  /** Every event up to this position is in the queue or no longer needs to be shown. */
  private reached: string | undefined;
  private readonly repeated = new RepeatedEvents();
  private isBehind = false;
  /** Whether an event is held until the service's clock has been read again. */
  private isEventHeld = false;
  /** Time of the service's clock minus time of this computer's clock. */
  private clockOffsetMs = 0;
  /**
   * `Date.now() - performance.now()` at the last reading of the service's clock. The difference changes noticeably only if
   * this computer's clock jumps.
   */
  private clockStartMs = 0;
  /** `performance.now()` at the last reading of the service's clock. */
  private clockReadAt = 0;

  constructor(private readonly parts: FeedParts) {
    this.reached = parts.store.read();
  }

  /**
   * Runs until the service rejects the connection.
   *
   * @throws LiveError with the reason
   */
  async run(): Promise<never> {
    await this.readClock();
    const timer = setInterval(() => this.saveIdle(), saveMs);
    try {
      for (;;) await this.follow();
    } finally {
      clearInterval(timer);
    }
  }

  /**
   * Handles the events of one connection, which reconnects by itself. If events were dropped, returns as soon as the queue is at most half
   * full. The next connection reads the dropped events.
   */
  private async follow(): Promise<void> {
    const events = this.connect();
    this.events = events;
    for await (const event of events) {
      if (this.mustReadClock(event)) {
        this.isEventHeld = true;
        await this.readClock();
        this.isEventHeld = false;
      }
      if (this.events !== events) break;
      this.handle(event);
    }
  }

  /** Call this right before an alert is shown. */
  onTaken({ position }: Alert): void {
    if (position !== undefined) this.parts.store.write(position);
    if (!this.isBehind || !this.parts.queue.isHalfEmpty) return;
    this.isBehind = false;
    void this.events?.return();
    this.events = undefined;
  }

  private connect(): LiveEvents {
    const { client, settings, onControl, onState } = this.parts;
    const { name, types, channel } = settings;
    const events = client.live({
      name,
      filters: { event_type: types, channel_id: channel },
      after: this.reached,
      transport: 'web-socket',
      onControl,
      onConnect: () => {
        // Without a saved position, the connection starts with new events, and the service first sends the start position.
        this.reached ??= events.position;
        onState('connected');
      },
      onGap: ({ reason }) => onState(`missed some events: ${reason}`),
      onRetry: ({ cause }) => onState(`reconnecting: ${String(cause)}`),
    });
    return events;
  }

  private handle(event: LiveEvent): void {
    const { position } = event;
    if (this.isBehind) return;
    if (this.isAlert(event)) {
      if (this.parts.queue.isFull) {
        // The service never sends a replay again, so a dropped replay is lost. Other events can be read again.
        this.isBehind = position !== undefined;
        return;
      }
      const id = event.id ?? event.event_id ?? undefined;
      this.parts.queue.add({ ...toAlert(event), position, id: position && id });
    }
    this.reached = position ?? this.reached;
  }

  private mustReadClock(event: LiveEvent): boolean {
    if (Math.abs(Date.now() - performance.now() - this.clockStartMs) > maxClockStepMs) return true;
    return this.isTooOld(event) && performance.now() > this.clockReadAt + clockValidMs;
  }

  private isAlert(event: LiveEvent): boolean {
    const { event_type, event_data } = event;
    // An outgoing raid is an alert for the raided channel, not for this one.
    const { channel } = this.parts.settings;
    if (event_type === 'channel-raid' && channel && event_data.from_broadcaster_user_id === channel)
      return false;
    if (event.origin === 'platform' && this.repeated.take(event)) return false;
    return !this.isTooOld(event);
  }

  private isTooOld({ created, position }: LiveEvent): boolean {
    // A replay has no position. Show it regardless of its event's age.
    if (position === undefined) return false;
    return parseTime(created).getTime() < Date.now() + this.clockOffsetMs - maxAgeMs;
  }

  /** Saves the connection's position while no alert waits. Otherwise a source without alerts would resume from an ever older position. */
  private saveIdle(): void {
    const position = this.events?.position;
    if (position === undefined || this.isBehind || this.isEventHeld || this.parts.queue.length > 0) return;
    this.reached = position;
    this.parts.store.write(position);
  }

  /**
   * Reads the service's clock, because this computer's clock can be wrong until the computer is online. Waits until the service responds.
   * Call this again after the computer's clock jumps.
   */
  private async readClock(): Promise<void> {
    const { client, onState } = this.parts;
    for (;;) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), clockLimitMs);
      try {
        const { response } = await client.api.GET('/api/v1/heartbeat', { signal: limit.signal });
        const time = Date.parse(response.headers.get('date') ?? '');
        if (response.ok) {
          this.clockOffsetMs = Number.isNaN(time) ? 0 : time - Date.now();
          this.clockStartMs = Date.now() - performance.now();
          this.clockReadAt = performance.now();
          return;
        }
        onState(`waiting for the service: ${response.status}`);
      } catch (error) {
        onState(`waiting for the service: ${String(error)}`);
      } finally {
        clearTimeout(timer);
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** Converts an event to an alert. Truncates its texts to limit the memory of waiting alerts. */
export function toAlert(event: DescribedEvent): Alert {
  const sentence = describeEvent(event).map(({ kind, text }) => ({
    kind,
    text: kind === 'words' ? text : printUserText(text),
  }));
  return { type: event.event_type, sentence };
}

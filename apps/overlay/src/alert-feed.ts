import type { Client, LiveControl, LiveEvent, LiveEvents } from '@stream-events/client';
import { describeEvent, parseTime, printUserText, type DescribedEvent } from '@stream-events/sentences';
import type { Alert, AlertQueue } from './alert-queue.js';
import type { PositionStore } from './position-store.js';
import type { Settings } from './settings.js';

/** The parts that an alert feed needs. */
export interface FeedParts {
  client: Client;
  settings: Settings;
  queue: AlertQueue;
  store: PositionStore;
  onControl: (control: LiveControl) => void;
  /** Called with the state of the connection, in words. */
  onState: (state: string) => void;
}

/** Alerts older than this are skipped, so that the first start of the day does not show last night's alerts. */
const maxAgeMs = 600_000;
// How often to save the position while events are skipped. A reloaded source reads again, and skips again, all events since the last save.
const saveMs = 5_000;
const clockLimitMs = 10_000;
const retryMs = 2_000;
// Far more than the drift of a clock between two events, and far less than `maxAgeMs`.
const maxClockStepMs = 60_000;

/** Receives the events of a source, and saves the position of the source.
 *
 * ```
 *  service ──▶ feed ──▶ queue ──▶ shown
 *                ▲                  │
 *                └──── position ◀───┘  saved when an alert is about to be shown
 * ```
 *
 * The saved position is the position of the last alert that was shown. After a reload, the page therefore receives the waiting alerts, but
 * not the alerts that were already shown. While no alert waits, the feed saves the position of the connection.
 *
 * When the queue is full, the feed drops events, and reads them again from their position when the queue has room. The connection stays
 * open meanwhile, because it also carries the controls.
 */
export class AlertFeed {
  private events: LiveEvents | undefined;
  /** Every event up to this position is in the queue, or does not need to be shown anymore. */
  private reached: string | undefined;
  private isBehind = false;
  /** Whether an event waits until the clock of the service is read again. */
  private isEventHeld = false;
  /** How far the clock of the service is ahead of this computer's clock. */
  private clockOffsetMs = 0;
  /** The difference between this computer's clock and its time since the page loaded, when the service's clock was read. */
  private clockStartMs = 0;

  constructor(private readonly parts: FeedParts) {
    this.reached = parts.store.read();
  }

  /**
   * Runs until the service refuses the connection.
   *
   * @throws LiveError with the reason for the refusal
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
   * Handles the events of one connection, which reconnects automatically. Returns when the queue has room for dropped events, so that a new
   * connection reads them again.
   */
  private async follow(): Promise<void> {
    const events = this.connect();
    this.events = events;
    for await (const event of events) {
      if (Math.abs(Date.now() - performance.now() - this.clockStartMs) > maxClockStepMs) {
        this.isEventHeld = true;
        await this.readClock();
        this.isEventHeld = false;
      }
      if (this.events !== events) break;
      this.handle(event);
    }
  }

  /** Call this immediately before an alert is shown. */
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
        // Without a saved position, the connection begins with new events, and the service first sends the start position.
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
        // A dropped replay is lost, because the service does not send a replay again.
        this.isBehind = position !== undefined;
        return;
      }
      const id = event.id ?? event.event_id ?? undefined;
      this.parts.queue.add({ ...toAlert(event), position, id: position && id });
    }
    this.reached = position ?? this.reached;
  }

  private isAlert({ event_type, event_data, created, position }: LiveEvent): boolean {
    // A raid that leaves this channel is an alert for the raided channel only.
    const { channel } = this.parts.settings;
    if (event_type === 'channel-raid' && channel && event_data.from_broadcaster_user_id === channel)
      return false;
    // Show a replay regardless of the age of its event.
    if (position === undefined) return true;
    return parseTime(created).getTime() >= Date.now() + this.clockOffsetMs - maxAgeMs;
  }

  /**
   * Saves the position of the connection while no alert waits. Otherwise, a source without alerts would resume from an ever older position.
   */
  private saveIdle(): void {
    const position = this.events?.position;
    if (position === undefined || this.isBehind || this.isEventHeld || this.parts.queue.length > 0) return;
    this.reached = position;
    this.parts.store.write(position);
  }

  /**
   * Reads the clock of the service, because the age of an alert must not depend on this computer's clock. Waits until the service responds.
   * Read it again after a step of this computer's clock, which may be wrong until the computer is online.
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

/** Creates the alert of an event. Truncates texts, so that a waiting alert needs little memory. */
export function toAlert(event: DescribedEvent): Alert {
  const sentence = describeEvent(event).map(({ kind, text }) => ({
    kind,
    text: kind === 'words' ? text : printUserText(text),
  }));
  return { type: event.event_type, sentence };
}

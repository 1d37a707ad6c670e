import type { Client, LiveControl, LiveEvent, LiveEvents } from '@stream-events/client';
import { describeEvent, parseTime, printUserText, type DescribedEvent } from '@stream-events/sentences';
import type { Alert, AlertQueue } from './alert-queue.js';
import type { PositionStore } from './position-store.js';
import type { Settings } from './settings.js';

/** What an alert feed works with. */
export interface FeedParts {
  client: Client;
  settings: Settings;
  queue: AlertQueue;
  store: PositionStore;
  onControl: (control: LiveControl) => void;
  /** Takes the state of the connection, in words. */
  onState: (state: string) => void;
}

/** Older alerts are skipped, so that the first start after a night is calm. */
const maxAgeMs = 600_000;
// A reloaded source reads again, and skips again, the events that it has skipped since the position was saved.
const saveMs = 5_000;
const clockLimitMs = 10_000;
const retryMs = 2_000;

/**
 * Receives the events of a source, and keeps its position.
 *
 * ```
 *  service ──▶ feed ──▶ queue ──▶ shown
 *                ▲                  │
 *                └──── position ◀───┘  saved when an alert is about to be shown
 * ```
 *
 * The saved position is that of the last alert that was shown, and of everything before it. A page that comes back receives the
 * alerts that waited, and not those that were shown. While no alert waits, the position of the connection is saved.
 *
 * When the queue is full, events are dropped, and read again from their position when the queue has room. The connection stays open
 * meanwhile, because it carries the controls.
 */
export class AlertFeed {
  private events: LiveEvents | undefined;
  /** Up to this position, every event is in the queue or no longer needs to be shown. */
  private reached: string | undefined;
  private isBehind = false;
  /** How far the clock of the service is ahead of this computer's. */
  private clockOffsetMs = 0;

  constructor(private readonly parts: FeedParts) {
    this.reached = parts.store.read();
  }

  /**
   * Runs until the service refuses the connection.
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

  /** Handles the events of one connection, which reconnects by itself, until the queue has room for events that were dropped. */
  private async follow(): Promise<void> {
    const events = this.connect();
    this.events = events;
    for await (const event of events) {
      if (this.events !== events) break;
      this.handle(event);
    }
  }

  /** Must be called when an alert is about to be shown. */
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
        // Without a position, the connection begins with new events, and the service sends its position first.
        this.reached ??= events.position;
        onState('connected');
      },
      onGap: ({ reason }) => onState(`some events are lost: ${reason}`),
      onRetry: ({ cause }) => onState(`reconnecting: ${String(cause)}`),
    });
    return events;
  }

  private handle(event: LiveEvent): void {
    const { position } = event;
    if (this.isBehind) return;
    if (this.isAlert(event)) {
      if (this.parts.queue.isFull) {
        // The service does not send a replay again.
        this.isBehind = position !== undefined;
        return;
      }
      const id = event.id ?? event.event_id ?? undefined;
      this.parts.queue.add({ ...toAlert(event), position, id: position && id });
    }
    this.reached = position ?? this.reached;
  }

  private isAlert({ event_type, event_data, created, position }: LiveEvent): boolean {
    // A raid to another channel is news for that channel.
    const { channel } = this.parts.settings;
    if (event_type === 'channel-raid' && channel && event_data.from_broadcaster_user_id === channel)
      return false;
    // A replay is meant to be seen, however old its event is.
    if (position === undefined) return true;
    return parseTime(created).getTime() >= Date.now() + this.clockOffsetMs - maxAgeMs;
  }

  /** Saves the position of the connection while no alert waits. Without this, a quiet source would resume further and further back. */
  private saveIdle(): void {
    const position = this.events?.position;
    if (position === undefined || this.isBehind || this.parts.queue.length > 0) return;
    this.reached = position;
    this.parts.store.write(position);
  }

  /** Learns the time of the service, because the age of an alert must not depend on this computer's clock. Waits for the service. */
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

/** Describes an event. Texts are cut here, so that a waiting alert is small. */
export function toAlert(event: DescribedEvent): Alert {
  const sentence = describeEvent(event).map(({ kind, text }) => ({
    kind,
    text: kind === 'words' ? text : printUserText(text),
  }));
  return { type: event.event_type, sentence };
}

import type { FeedListener, Interruption } from '../src/live/stream/event-feed.service.js';
import type { HistoryPage } from '../src/live/stream/event-history.service.js';
import { EventRingBuffer } from '../src/live/stream/event-ring-buffer.js';
import type { FrameFormat } from '../src/live/connections/frames.js';
import { LiveEvent } from '../src/live/stream/live-event.js';
import type { LiveSink } from '../src/live/connections/live-sink.js';
import { MessageReader } from './message-reader.js';
import { checkOfStart, positionOf, type Position } from '../src/live/stream/position.js';
import type { CloseReason } from '../src/live/close-codes.js';
import type { GapReason } from '../src/live/gap-reasons.js';

/** Creates an event with this sequence. Types a, b, and c take turns. */
export function makeEvent(epoch: string, sequence: number, padding = ''): LiveEvent {
  const id = `019aa3c1-7f5e-7cc2-9d5c-${epoch.slice(0, 4)}${String(sequence).padStart(8, '0')}`;
  const type = ['a', 'b', 'c'][sequence % 3];
  const record = `{"id":"${id}","event_type":"${type}","event_data":{"padding":"${padding}"}}`;
  return new LiveEvent(id, Buffer.from(record), epoch, sequence);
}

/** An event feed and its history, without NATS. Published events are available immediately. */
export class MadeFeed {
  ringBuffer: EventRingBuffer | undefined;
  nextSequence = 1;
  /** All events of the current epoch that have not expired. */
  events: LiveEvent[] = [];
  /** Simulates that NATS is unavailable: reading the history fails. */
  isAway = false;
  failedReads = 0;
  private listener: FeedListener | undefined;
  private expiredBefore = 1;

  constructor(
    readonly history = {
      read: (place: { epoch: string; from: number; until: number }) => this.read(place),
      rest: (): void => undefined,
    },
  ) {}

  get head(): Position | undefined {
    if (!this.ringBuffer) return undefined;
    const { last } = this.ringBuffer;
    return last
      ? positionOf(last)
      : { epoch: this.ringBuffer.epoch, sequence: this.nextSequence - 1, check: checkOfStart };
  }

  listen(listener: FeedListener): void {
    this.listener = listener;
  }

  async untilCurrent(signal: AbortSignal): Promise<void> {
    while (!this.ringBuffer) {
      signal.throwIfAborted();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  begin(epoch: string): void {
    this.ringBuffer = new EventRingBuffer(epoch, 0);
    this.events = [];
    this.nextSequence = 1;
    this.expiredBefore = 1;
  }

  publish(padding = ''): LiveEvent {
    return this.add(makeEvent(this.ringBuffer!.epoch, this.nextSequence, padding));
  }

  /** Publishes text that only a foreign publisher could publish, never the events service. */
  publishText(text: string): void {
    const { id, epoch, sequence } = makeEvent(this.ringBuffer!.epoch, this.nextSequence);
    this.add(new LiveEvent(id, Buffer.from(text), epoch, sequence));
  }

  private add(event: LiveEvent): LiveEvent {
    this.nextSequence += 1;
    this.events.push(event);
    this.ringBuffer!.add(event);
    this.listener?.onEvent(event);
    return event;
  }

  /** Empties the ring buffer, so that its events are only in the history. */
  forgetRingBuffer(): void {
    this.ringBuffer = new EventRingBuffer(this.ringBuffer!.epoch, this.nextSequence - 1);
  }

  /** Removes all current events from the stream. */
  expire(): void {
    this.expiredBefore = this.nextSequence;
    this.events = [];
    this.forgetRingBuffer();
  }

  /** Recreates the stream with a new epoch. It then already contains `count` events. */
  interrupt(epoch: string, count = 0): void {
    this.begin(epoch);
    const { listener } = this;
    this.listener = undefined;
    for (let index = 0; index < count; index += 1) this.publish();
    this.listener = listener;
    const interruption: Interruption = { reason: 'other_epoch', nextSequence: 1 };
    listener?.onInterrupted(interruption);
  }

  private async read({
    epoch,
    from,
    until,
  }: {
    epoch: string;
    from: number;
    until: number;
  }): Promise<HistoryPage> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isAway) {
      this.failedReads += 1;
      throw new Error('NATS is unavailable');
    }
    if (epoch !== this.ringBuffer?.epoch) return { kind: 'other_epoch' };
    if (from < this.expiredBefore) return { kind: 'expired', firstSequence: this.expiredBefore };
    const events = this.events.filter(({ sequence }) => sequence >= from && sequence <= until).slice(0, 5);
    return { kind: 'events', events, next: (events.at(-1)?.sequence ?? until) + 1 };
  }
}

/** A message that a client received. */
export type Received =
  { event_type: string; position?: string } | { event: string; reason?: GapReason; position?: string };

/** A client connection. Reads everything at once, except between `stall` and `read`. */
export class MadeSink implements LiveSink {
  readonly received: Received[] = [];
  closed: CloseReason | undefined;
  bufferedBytes = 0;
  /** Maximum of `bufferedBytes` so far. */
  highestBuffered = 0;
  private isReading = true;
  private waiting: ((isDrained: boolean) => void)[] = [];
  private readonly reader = new MessageReader();

  constructor(readonly format: FrameFormat = 'positioned') {}

  /** Sequences of the received events. */
  get sequences(): number[] {
    return this.received.flatMap((message) =>
      'event_type' in message && message.position ? [Number(message.position.split('-')[1])] : [],
    );
  }

  write(frames: Buffer): void {
    if (this.closed) return;
    // Safe cast: the service sends only these messages.
    this.received.push(...this.reader.read(frames).map((text) => JSON.parse(text) as Received));
    if (this.isReading) return;
    this.bufferedBytes += frames.length;
    this.highestBuffered = Math.max(this.highestBuffered, this.bufferedBytes);
  }

  async drained(): Promise<boolean> {
    if (this.closed) return false;
    if (this.bufferedBytes === 0) return true;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Stops reading. */
  stall(): void {
    this.isReading = false;
  }

  /** Reads everything, now and from now on. */
  read(): void {
    this.isReading = true;
    this.bufferedBytes = 0;
    this.settle(true);
  }

  /** Simulates a client that has read nothing for ten seconds. */
  giveUp(): void {
    this.settle(false);
  }

  close(reason: CloseReason): void {
    this.closed ??= reason;
    this.settle(false);
  }

  private settle(isDrained: boolean): void {
    for (const resolve of this.waiting.splice(0)) resolve(isDrained);
  }
}

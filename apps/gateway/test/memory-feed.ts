import { v7 as uuidV7 } from 'uuid';
import type { FeedListener, Interruption } from '../src/live/stream/event-feed.service.js';
import { EventRingBuffer } from '../src/live/stream/event-ring-buffer.js';
import { LiveEvent } from '../src/live/stream/live-event.js';
import { checkOfStart, positionOf, type Position } from '../src/live/stream/position.js';

const epoch = '0000abcd';

/** An in-memory event stream with the parts of EventFeed that connections use. */
export class MemoryFeed {
  readonly ringBuffer = new EventRingBuffer(epoch, 0);
  nextSequence = 1;
  private readonly listeners: FeedListener[] = [];

  get head(): Position {
    return this.ringBuffer.last
      ? positionOf(this.ringBuffer.last)
      : { epoch, sequence: 0, check: checkOfStart };
  }

  listen(listener: FeedListener): void {
    this.listeners.push(listener);
  }

  untilCurrent(): Promise<void> {
    return Promise.resolve();
  }

  /** Publishes an event. Adds `id`, `event_type`, `origin`, and `event_data` unless `record` has them. */
  publish(record: Record<string, unknown> = {}): LiveEvent {
    const id = uuidV7();
    const whole = { id, event_type: 'channel-raid', origin: 'platform', event_data: {}, ...record };
    const event = new LiveEvent(id, Buffer.from(JSON.stringify(whole)), epoch, this.nextSequence);
    this.nextSequence += 1;
    this.ringBuffer.add(event);
    for (const listener of this.listeners) listener.onEvent(event);
    return event;
  }

  interrupt(interruption: Interruption): void {
    for (const listener of this.listeners) listener.onInterrupted(interruption);
  }
}

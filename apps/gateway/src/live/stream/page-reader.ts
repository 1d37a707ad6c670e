import type { Consumer, ConsumerMessages, Heartbeat } from '@nats-io/jetstream';
import { eventsStreamName } from '@stream-events/contracts';
import { LaggingServerError } from '@stream-events/messaging';
import {
  maxInFlight,
  toStreamMessage,
  type EventsStreamClient,
  type StreamMessage,
} from './events-stream-client.js';

export interface FoundMessages {
  messages: StreamMessage[];
  /** `messages` is complete up to this sequence, which is at most the last sequence of the page. */
  lastSequence: number;
}

/** Number of sequences in a page. */
export const pageLength = 128;

// How long a fetch waits. NATS normally sends the messages within milliseconds.
const fetchMs = 2_000;
// How often NATS sends a heartbeat while it has nothing to deliver. The NATS client permits no shorter interval.
const heartbeatMs = 500;
// A reader that has been idle for longer is not reused. Must be less than the 30 s after which NATS deletes an unused consumer.
const maxIdleMs = 20_000;

/**
 * Reads consecutive pages with its own consumer.
 *
 * NATS can place the consumer on a server that is still catching up after a restart and lacks the newest messages. A page counts as
 * complete only when the consumer has proved that its server has the stream up to the end of the page:
 *
 * ```
 * proof                                          │ when
 * a message at or after the end                  │ nearly always
 * a heartbeat that names the end, or a later one │ the last messages were removed from the stream: takes 0.5 s
 * ```
 */
export class PageReader {
  private usedAt = performance.now();
  /** Number of messages that the consumer has delivered. */
  private delivered = 0;
  /** Delivered messages that belong to later pages. Where the stream has holes, a fetch returns messages of more than one page. */
  private ahead: StreamMessage[] = [];
  /** The last sequence up to which the consumer has delivered all messages. */
  private passed: number;

  private constructor(
    private readonly stream: EventsStreamClient,
    private readonly consumer: Consumer,
    /** The first sequence that has not been requested yet. */
    private next: number,
    /** Number of messages that the consumer still has to deliver, according to its last report. */
    private pending: number,
  ) {
    this.passed = next - 1;
  }

  /** @throws if the stream does not exist, or NATS does not respond */
  static async open(stream: EventsStreamClient, from: number): Promise<PageReader> {
    const consumer = await stream.addConsumer(from);
    const { num_pending } = await consumer.info(true);
    return new PageReader(stream, consumer, from, num_pending);
  }

  /** Whether this reader can next read the page that starts at this sequence. */
  isAt(from: number): boolean {
    const isFresh = performance.now() < this.usedAt + maxIdleMs;
    return this.next === from && this.pending > 0 && isFresh;
  }

  /**
   * Reads the messages up to and including the sequence `end`, or up to the end of the stream if that comes first. The caller knows that
   * the stream reaches the sequence `until`. The result is complete up to `end` or `until`, whichever comes first.
   *
   * @throws if NATS does not respond, messages are lost in transit, or the consumer's server lacks messages up to `until`. Discard the
   * reader after an error
   */
  async read(end: number, until: number): Promise<FoundMessages> {
    this.usedAt = performance.now();
    this.next = end + 1;
    while (this.passed < end && (this.pending > 0 || this.passed < until)) await this.fetch(until);
    const messages = this.ahead.filter(({ sequence }) => sequence <= end);
    this.ahead = this.ahead.slice(messages.length);
    return { messages, lastSequence: Math.min(this.passed, end) };
  }

  close(): void {
    void this.stream.deleteConsumer(this.consumer);
  }

  /** Fetches pending messages. If none are pending, waits for a heartbeat that proves that none are missing up to `until`. */
  private async fetch(until: number): Promise<void> {
    const wanted = Math.min(Math.max(this.pending, 1), maxInFlight.pageReader);
    const fetching = await this.consumer.fetch({
      max_messages: wanted,
      expires: fetchMs,
      idle_heartbeat: heartbeatMs,
    });
    const heartbeat = stopAtHeartbeat(fetching);
    let count = 0;
    for await (const message of fetching) {
      const { info, data } = message;
      this.delivered += 1;
      if (info.deliverySequence !== this.delivered) throw new LostInTransitError();
      // If the server's copy ends before the start of the consumer, the consumer delivers older messages from the end of the copy.
      if (info.streamSequence <= this.passed) throw this.lagging();
      this.ahead.push({ ...toStreamMessage(message), data: new Uint8Array(data) });
      this.passed = info.streamSequence;
      this.pending = info.pending;
      count += 1;
      if (count === wanted || this.pending === 0) return;
    }
    const beat = await heartbeat;
    if (!beat) throw new Error(`NATS did not send a page of events within ${fetchMs / 1_000} s`);
    if (beat.lastConsumerSequence > this.delivered) throw new LostInTransitError();
    this.passed = Math.max(this.passed, beat.lastStreamSequence);
    if (this.passed < until) throw this.lagging();
    this.pending = 0;
  }

  private lagging(): LaggingServerError {
    return new LaggingServerError(eventsStreamName, this.passed + 1);
  }
}

/**
 * Ends a fetch at its first heartbeat and returns the heartbeat. NATS sends one when the consumer has nothing to deliver. Undefined if none
 * arrives.
 */
async function stopAtHeartbeat(fetching: ConsumerMessages): Promise<Heartbeat | undefined> {
  for await (const notification of fetching.status()) {
    if (notification.type !== 'heartbeat') continue;
    // This loses no message: the loop over the fetch still processes the messages that arrived before the heartbeat.
    fetching.stop();
    return notification;
  }
  return undefined;
}

class LostInTransitError extends Error {
  constructor() {
    super('messages of the EVENTS stream were lost in transit');
  }
}

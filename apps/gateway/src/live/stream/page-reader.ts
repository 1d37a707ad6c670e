import type { Consumer } from '@nats-io/jetstream';
import { toStreamMessage, type EventsStreamClient, type StreamMessage } from './events-stream-client.js';

/** What a reader finds up to the end of a page. */
export interface FoundMessages {
  messages: StreamMessage[];
  /** Whether there was nothing more on the stream. */
  isEnd: boolean;
}

/** Sequences of a page. Events have up to 256 KiB: not more than a broker may have waiting for a client. */
export const pageLength = 128;

// A broker that works sends a page within milliseconds.
const fetchMs = 2_000;
const heartbeatMs = 500;
// Below the 30 s after which the broker forgets a consumer that nobody uses.
const maxIdleMs = 20_000;

/** Reads pages one after the other, by a consumer of its own. */
export class PageReader {
  private usedAt = performance.now();
  /** Messages that the consumer has delivered. */
  private delivered = 0;
  /** Those of them that belong to later pages: where the stream has holes, a fetch brings more than a page. */
  private ahead: StreamMessage[] = [];

  private constructor(
    private readonly stream: EventsStreamClient,
    private readonly consumer: Consumer,
    /** The first sequence that was not asked for yet. */
    private next: number,
    /** Messages that the consumer has yet to deliver, as far as it has said. */
    private pending: number,
  ) {}

  /** @throws when there is no stream, or the broker does not answer */
  static async open(stream: EventsStreamClient, from: number): Promise<PageReader> {
    const consumer = await stream.addConsumer(from);
    const { num_pending } = await consumer.info(true);
    return new PageReader(stream, consumer, from, num_pending);
  }

  /** Whether the next page is the one that begins here. */
  standsAt(from: number): boolean {
    const isFresh = performance.now() < this.usedAt + maxIdleMs;
    return this.next === from && this.pending > 0 && isFresh;
  }

  /**
   * Reads up to a sequence.
   *
   * @throws when the broker does not answer; then the reader is of no use any more
   */
  async read(end: number): Promise<FoundMessages> {
    this.usedAt = performance.now();
    this.next = end + 1;
    const lastAhead = this.ahead.at(-1)?.sequence ?? 0;
    if (lastAhead < end && this.pending > 0) await this.fetch();
    const messages = this.ahead.filter(({ sequence }) => sequence <= end);
    this.ahead = this.ahead.slice(messages.length);
    const isComplete = this.ahead.length > 0 || messages.at(-1)?.sequence === end;
    return { messages, isEnd: !isComplete };
  }

  /** Lets the broker forget it. */
  close(): void {
    void this.stream.deleteConsumer(this.consumer);
  }

  /** As many messages as a page has at most, or all that there are. */
  private async fetch(): Promise<void> {
    const options = { max_messages: pageLength, expires: fetchMs, idle_heartbeat: heartbeatMs };
    const fetching = await this.consumer.fetch(options);
    let count = 0;
    for await (const message of fetching) {
      const { info, data } = message;
      this.delivered += 1;
      if (info.deliverySequence !== this.delivered)
        throw new Error('the consumer has lost messages on their way');
      this.ahead.push({ ...toStreamMessage(message), data: new Uint8Array(data) });
      this.pending = info.pending;
      count += 1;
      if (this.pending === 0) break;
    }
    if (count < pageLength && this.pending > 0)
      throw new Error('the broker did not send a page of events in time');
  }
}

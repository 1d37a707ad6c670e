import type { Consumer } from '@nats-io/jetstream';
import { toStreamMessage, type EventsStreamClient, type StreamMessage } from './events-stream-client.js';

/** The messages up to the end of a page. */
export interface FoundMessages {
  messages: StreamMessage[];
  /** Whether the stream had no more messages. */
  isEnd: boolean;
}

/** Number of sequences in a page. With events of up to 256 KiB, a page stays below nats-server's buffer limit per client. */
export const pageLength = 128;

// NATS sends a page within milliseconds.
const fetchMs = 2_000;
const heartbeatMs = 500;
// Less than the 30 s after which NATS deletes an unused consumer.
const maxIdleMs = 20_000;

/** Reads consecutive pages with its own consumer. */
export class PageReader {
  private usedAt = performance.now();
  /** Number of messages that the consumer has delivered. */
  private delivered = 0;
  /** Delivered messages that belong to later pages. Where the stream has holes, a fetch returns messages of more than one page. */
  private ahead: StreamMessage[] = [];

  private constructor(
    private readonly stream: EventsStreamClient,
    private readonly consumer: Consumer,
    /** The first sequence that has not been requested yet. */
    private next: number,
    /** Number of messages that the consumer still has to deliver, according to its last report. */
    private pending: number,
  ) {}

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
   * Reads the messages up to and including a sequence.
   *
   * @throws if NATS does not respond. Discard the reader after an error
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

  /** Deletes the consumer. */
  close(): void {
    void this.stream.deleteConsumer(this.consumer);
  }

  /** Fetches `pageLength` messages, or all remaining messages if fewer remain. */
  private async fetch(): Promise<void> {
    const options = { max_messages: pageLength, expires: fetchMs, idle_heartbeat: heartbeatMs };
    const fetching = await this.consumer.fetch(options);
    let count = 0;
    for await (const message of fetching) {
      const { info, data } = message;
      this.delivered += 1;
      if (info.deliverySequence !== this.delivered)
        throw new Error('messages of the consumer were lost in transit');
      this.ahead.push({ ...toStreamMessage(message), data: new Uint8Array(data) });
      this.pending = info.pending;
      count += 1;
      if (this.pending === 0) break;
    }
    if (count < pageLength && this.pending > 0)
      throw new Error(`NATS did not send a page of events within ${fetchMs / 1_000} s`);
  }
}

import type { EventsStreamClient } from './events-stream-client.js';
import { PageReader } from './page-reader.js';

/** However many clients there are. */
const maxReaders = 4;

/** The few readers that all pages are read by: one that goes on where it stands, where there is one. */
export class PageReaders {
  private idle: PageReader[] = [];
  private busy = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly stream: EventsStreamClient) {
    // No consumer outlives a broker; those of one that is only out of reach end by themselves.
    stream.onDisconnected(() => {
      this.idle = [];
    });
  }

  /**
   * Has a reader do some work, from a sequence on, when one is free.
   *
   * @throws the signal's reason, when it is too late by then; what the work throws
   */
  async use<T>(from: number, signal: AbortSignal, work: (reader: PageReader) => Promise<T>): Promise<T> {
    if (this.busy < maxReaders) this.busy += 1;
    // Whoever is done hands its place on.
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      // Work that nobody waits for any more must not take the time of the work behind it.
      signal.throwIfAborted();
      const reader = this.take(from) ?? (await this.open(from));
      return await this.run(reader, work);
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.busy -= 1;
    }
  }

  private async run<T>(reader: PageReader, work: (reader: PageReader) => Promise<T>): Promise<T> {
    try {
      const result = await work(reader);
      this.idle.push(reader);
      return result;
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  private take(from: number): PageReader | undefined {
    const reader = this.idle.find((each) => each.standsAt(from));
    this.idle = this.idle.filter((each) => each !== reader);
    return reader;
  }

  private async open(from: number): Promise<PageReader> {
    // The busy ones, this one counted, and the idle ones are four at most. The first one was used the longest ago.
    if (this.busy + this.idle.length > maxReaders) this.idle.shift()?.close();
    return PageReader.open(this.stream, from);
  }
}

import type { EventsStreamClient } from './events-stream-client.js';
import { PageReader } from './page-reader.js';

/** Maximum number of readers; a few serve any number of clients. If you change it, also check `maxInFlight`. */
const maxReaders = 4;

/** A pool of page readers. Prefers the reader that is already at the requested sequence. */
export class PageReaders {
  private idle: PageReader[] = [];
  private busy = 0;
  /** Increases with each call of `forget`. A reader of an earlier generation is not used again. */
  private generation = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly stream: EventsStreamClient) {
    // Drop the idle readers, because their consumers do not survive a restart of NATS. If NATS was only unreachable, the consumers expire.
    stream.onDisconnected(() => {
      this.idle = [];
    });
  }

  /**
   * Waits until a reader is free, runs the work with a reader that starts at the sequence `from`, and returns the result of the work.
   *
   * @throws the signal's reason if the signal has aborted when a reader becomes free; the error from opening the reader or from the work
   */
  async use<T>(from: number, signal: AbortSignal, work: (reader: PageReader) => Promise<T>): Promise<T> {
    if (this.busy < maxReaders) this.busy += 1;
    // A caller that finishes hands its slot to the next caller.
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      // Do not spend a reader on work that no caller waits for.
      signal.throwIfAborted();
      const reader = this.take(from) ?? (await this.open(from));
      return await this.run(reader, work);
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.busy -= 1;
    }
  }

  /** Closes idle readers now, and busy readers after their current page. Messages that they fetched ahead may belong to an erased user. */
  forget(): void {
    this.generation += 1;
    for (const reader of this.idle.splice(0)) reader.close();
  }

  private async run<T>(reader: PageReader, work: (reader: PageReader) => Promise<T>): Promise<T> {
    const { generation } = this;
    try {
      const result = await work(reader);
      if (generation === this.generation) this.idle.push(reader);
      else reader.close();
      return result;
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  private take(from: number): PageReader | undefined {
    const reader = this.idle.find((each) => each.isAt(from));
    this.idle = this.idle.filter((each) => each !== reader);
    return reader;
  }

  private async open(from: number): Promise<PageReader> {
    // Keep at most four readers in total, busy (including the new one) and idle. The first idle reader is the least recently used one.
    if (this.busy + this.idle.length > maxReaders) this.idle.shift()?.close();
    return PageReader.open(this.stream, from);
  }
}

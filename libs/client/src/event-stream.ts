import { LiveError } from './live-error.js';
import { parseRetryAfter } from './reconnect-delay.js';
import { BlockParser, type Block } from './server-sent-events.js';

/** How the stream is asked for. */
export interface StreamRequest {
  fetch: typeof fetch;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** A connection on which nothing comes for so long is taken to be dead. */
  silenceMs: number;
}

/** A connection is no more, or never came about, and the next may be better. */
export class Loss {
  constructor(
    readonly cause: unknown,
    /** What the service asks to wait. */
    readonly retryAfterMs?: number,
  ) {}
}

// Of the answers 4xx these say nothing about the request itself (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4).
const passingStatuses = [408, 425, 429];

/** One connection to the stream of server-sent events. */
export class EventStream {
  private readonly ending = new AbortController();
  private readonly parser = new BlockParser();
  private readonly decoder = new TextDecoder();
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private blocks: Block[] = [];

  constructor(
    private readonly request: StreamRequest,
    outerSignal: AbortSignal,
  ) {
    outerSignal.addEventListener('abort', () => this.close(), { signal: this.ending.signal });
  }

  /**
   * Connects; undefined when that worked.
   *
   * @param after the last position that the client has
   * @throws LiveError when the service refuses, and would again
   */
  async open(after: string | undefined): Promise<Loss | undefined> {
    const { fetch, url, headers } = this.request;
    const response = await this.attempt(() =>
      fetch(url, {
        headers: { ...headers, ...(after !== undefined && { 'Last-Event-ID': after }) },
        signal: this.ending.signal,
      }),
    );
    if (response instanceof Loss) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (!response.ok || !isStream || !response.body) return this.readRefusal(response);
    this.reader = response.body.getReader();
    return undefined;
  }

  /** The next block. Nothing more is read from the network before all that came are taken. */
  async read(): Promise<Block | Loss> {
    while (!this.ending.signal.aborted) {
      const block = this.blocks.shift();
      if (block) return block;
      const blocks = await this.attempt(() => this.readBlocks());
      if (blocks instanceof Loss) return blocks;
      this.blocks = blocks;
    }
    return new Loss(this.ending.signal.reason);
  }

  /** Ends it, whatever it is doing. */
  close(): void {
    this.ending.abort();
  }

  private async readBlocks(): Promise<Block[]> {
    const piece = await this.reader?.read();
    if (!piece || piece.done) throw new Error('The connection was ended');
    return this.parser.push(this.decoder.decode(piece.value, { stream: true }));
  }

  private async readRefusal(response: Response): Promise<Loss> {
    const error = await this.attempt(() => LiveError.fromResponse(response));
    if (error instanceof Loss) return error;
    const isPassing = response.status >= 500 || passingStatuses.includes(response.status);
    if (!isPassing) throw error;
    return new Loss(error, parseRetryAfter(response.headers.get('retry-after')));
  }

  /** What comes of a step on the network, which fails when it takes too long. */
  private async attempt<T>(step: () => Promise<T>): Promise<T | Loss> {
    const timer = setTimeout(() => this.endSilent(), this.request.silenceMs);
    try {
      return await step();
    } catch (error) {
      return new Loss(this.ending.signal.aborted ? this.ending.signal.reason : error);
    } finally {
      clearTimeout(timer);
    }
  }

  private endSilent(): void {
    this.ending.abort(new Error(`Nothing came for ${this.request.silenceMs} ms`));
  }
}

import { Loss, parseObject, type LiveConnection, type LiveMessage } from './live-connection.js';
import { LiveError } from './live-error.js';
import { parseRetryAfter } from './reconnect-delay.js';
import { BlockParser, type Block } from './server-sent-events.js';

/** The request that opens an event stream. */
export interface StreamRequest {
  fetch: typeof fetch;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Milliseconds without data after which the client treats the connection as dead. */
  silenceMs: number;
}

// These 4xx statuses do not mean that the request is invalid: a retry can succeed (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4).
const retryableStatuses = [408, 425, 429];

/** One connection over server-sent events. */
export class EventStream implements LiveConnection {
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

  /** Returns the next message. Reads from the network only when no message is left from the previous read. */
  async read(): Promise<LiveMessage | Loss> {
    while (!this.ending.signal.aborted) {
      const block = this.blocks.shift();
      if (block) return readMessage(block);
      const blocks = await this.attempt(() => this.readBlocks());
      if (blocks instanceof Loss) return blocks;
      this.blocks = blocks;
    }
    return new Loss(this.ending.signal.reason);
  }

  close(): void {
    this.ending.abort();
  }

  private async readBlocks(): Promise<Block[]> {
    const piece = await this.reader?.read();
    if (!piece || piece.done) throw new Error('The service ended the connection');
    return this.parser.push(this.decoder.decode(piece.value, { stream: true }));
  }

  private async readRefusal(response: Response): Promise<Loss> {
    const error = await this.attempt(() => LiveError.fromResponse(response));
    if (error instanceof Loss) return error;
    const isRetryable = response.status >= 500 || retryableStatuses.includes(response.status);
    if (!isRetryable) throw error;
    return new Loss(error, parseRetryAfter(response.headers.get('retry-after')));
  }

  /** Runs one network operation. Returns a Loss if it fails or takes longer than `silenceMs`. */
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
    this.ending.abort(new Error(`The connection was silent for ${this.request.silenceMs} ms`));
  }
}

function readMessage({ id, event, data }: Block): LiveMessage | Loss {
  const content = data === undefined ? undefined : parseObject(data);
  if (content instanceof Loss) return content;
  return { kind: event, position: id || undefined, content };
}

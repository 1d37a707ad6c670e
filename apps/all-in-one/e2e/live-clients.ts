import { once } from 'node:events';
import { eventually } from '@stream-events/testing';
import WebSocket from 'ws';
import type { EventRecord } from './api.js';

export const socketPath = '/ws/platform-events/';
export const streamPath = '/api/v1/platform-events/stream';

/** An event (with its position if requested) or a control message. */
export type LiveMessage = EventRecord & { position?: string; event?: string; reason?: string };

/** Records all messages. */
export class LiveSocket {
  readonly texts: string[] = [];
  closed: { code: number; reason: string } | undefined;
  private readonly socket: WebSocket;

  private constructor(url: string, options: WebSocket.ClientOptions) {
    this.socket = new WebSocket(url.replace('http', 'ws'), options);
    this.socket.on('message', (data: Buffer) => this.texts.push(data.toString()));
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    // Tests check the close code instead. Without a listener, the error would end the process.
    this.socket.on('error', () => undefined);
  }

  /** Connects, and sends the first message if there is one. */
  static async open(
    gatewayUrl: string,
    first?: object,
    { path = socketPath, headers = {} }: { path?: string; headers?: Record<string, string> } = {},
  ): Promise<LiveSocket> {
    const live = new LiveSocket(new URL(path, gatewayUrl).href, { headers });
    await once(live.socket, 'open');
    if (first) live.socket.send(JSON.stringify(first));
    return live;
  }

  /** Requests positions and waits until the client is live. */
  static async ready(gatewayUrl: string, first: object, path = socketPath): Promise<LiveSocket> {
    const live = await LiveSocket.open(gatewayUrl, { positions: true, ...first }, { path });
    await eventually(() => expect(live.messages.some(({ event }) => event === 'ready')).toBe(true), {
      timeoutMs: 60_000,
    });
    return live;
  }

  get messages(): LiveMessage[] {
    return this.texts.map((text) => JSON.parse(text) as LiveMessage); // Safe cast: tests compare the messages.
  }

  get events(): LiveMessage[] {
    return this.messages.filter(({ event }) => event === undefined);
  }

  get controls(): LiveMessage[] {
    return this.messages.filter(({ event }) => event !== undefined);
  }

  get position(): string | undefined {
    return this.messages.findLast(({ position }) => position !== undefined)?.position;
  }

  /** Stops reading, to simulate a slow client. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }
}

export interface ServerSentEvent {
  id?: string;
  event?: string;
  data?: string;
}

/** Reads server-sent events until `close()`. */
export class LiveStream {
  private text = '';

  private constructor(private readonly ending: AbortController) {}

  static async open(
    gatewayUrl: string,
    token: string,
    { path = streamPath, after }: { path?: string; after?: string } = {},
  ): Promise<LiveStream> {
    const ending = new AbortController();
    const { status, body } = await fetch(new URL(path, gatewayUrl), {
      headers: { authorization: `Token ${token}`, ...(after !== undefined && { 'last-event-id': after }) },
      signal: ending.signal,
    });
    if (status !== 200 || !body) throw new Error(`no stream: ${status}`);
    const live = new LiveStream(ending);
    void live.read(body);
    return live;
  }

  get parts(): ServerSentEvent[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .map((part) => {
        const lines = part.split('\n').map((line) => line.split(/: (.*)/s));
        return Object.fromEntries(lines.map(([name, value]) => [name, value])) as ServerSentEvent; // Safe cast: tests compare the events.
      });
  }

  get events(): LiveMessage[] {
    return this.parts
      .filter(({ event, data }) => event === undefined && data !== undefined)
      .map(({ id, data }) => ({ ...(JSON.parse(data ?? '') as LiveMessage), ...(id && { position: id }) })); // Safe cast: tests compare the events.
  }

  close(): void {
    this.ending.abort();
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const reader = body.getReader();
    try {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
        this.text += decoder.decode(chunk.value, { stream: true });
    } catch {
      // Either the test closed the stream or the connection broke. The messages so far remain available.
    }
  }
}

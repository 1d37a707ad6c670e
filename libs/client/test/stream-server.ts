import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request for the stream. The test sends the response. */
export class StreamConnection {
  isClosed = false;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {
    request.socket.once('close', () => (this.isClosed = true));
  }

  /** Position after which the client resumes. */
  get after(): string | undefined {
    return this.request.headers['last-event-id']?.toString();
  }

  /** Starts or continues the stream. */
  async send(text: string | Buffer): Promise<void> {
    if (!this.response.headersSent) {
      this.response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      this.response.flushHeaders();
    }
    if (text.length > 0) await new Promise((resolve) => this.response.write(text, resolve));
  }

  /** Ends the stream cleanly, like a service that stops. */
  end(): void {
    this.response.end();
  }

  /** Cuts the connection, like a proxy that crashes. */
  cut(): void {
    this.request.socket.destroy();
  }

  /** Responds with an error instead of a stream. */
  refuse(status: number, headers: Record<string, string> = {}, body: unknown = {}): void {
    const problem = { type: 'about:blank', title: 'refused', status, detail: 'not now', ...(body as object) };
    this.response.writeHead(status, { 'content-type': 'application/problem+json', ...headers });
    this.response.end(JSON.stringify(problem));
  }
}

type Handler = (connection: StreamConnection, index: number) => unknown;

/** An HTTP server that imitates the gateway. The test decides what each connection receives. */
export class StreamServer {
  readonly connections: StreamConnection[] = [];
  private constructor(
    private readonly server: Server,
    handler: Handler,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = new StreamConnection(request, response);
      handler(connection, this.connections.push(connection) - 1);
    });
  }

  static async start(handler: Handler, port = 0): Promise<StreamServer> {
    const server = createServer();
    const started = new StreamServer(server, handler);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return started;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo; // Safe cast: the server listens on TCP.
    return `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

export function positionOf(index: number): string {
  return `0a1b2c3d-${index}-${index.toString(16).padStart(8, '0')}`;
}

/** Returns an event as the gateway sends it. The record spans several `data` lines, because the gateway keeps line breaks in event data. */
export function eventBlock(index: number, event_data: object = { text: 'naïve ☕' }): string {
  const record = {
    id: `id-${index}`,
    event_id: null,
    event_type: 'channel-raid',
    event_source: 'PlatformSub',
    event_data,
    created: '2026-11-21T07:30:00+0000',
    origin: 'platform',
  };
  const lines = JSON.stringify(record, null, 1).split('\n');
  return `id: ${positionOf(index)}\n${lines.map((line) => `data: ${line}\n`).join('')}\n`;
}

/** Returns a position without an event. The service sends one when the client is live, and then every 15 s. */
export function positionBlock(index: number): string {
  return `id: ${positionOf(index)}\n\n`;
}

export function gapBlock(reason: string): string {
  return `event: gap\ndata: ${JSON.stringify({ reason })}\n\n`;
}

export function closedBlock(code: number, reason: string): string {
  return `event: closed\ndata: ${JSON.stringify({ code, reason })}\n\n`;
}

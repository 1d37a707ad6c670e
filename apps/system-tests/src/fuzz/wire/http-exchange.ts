import { connect, type Socket } from 'node:net';

/** A response. Status 0 means that the connection ended without one. */
export interface Exchange {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

const none: Exchange = { status: 0, headers: {}, body: '' };

/** Sends raw requests over one connection, one after the other. Reconnects if the server has closed the connection. */
export class HttpExchanges {
  private socket: Socket | undefined;
  private received: Buffer = Buffer.alloc(0);
  private settle: ((exchange: Exchange) => void) | undefined;

  constructor(
    private readonly port: number,
    private readonly localAddress: string,
  ) {}

  /** Retries once if a reused connection ends without a response: servers can close it between two requests. */
  async send(bytes: Buffer): Promise<Exchange> {
    const isReused = this.socket !== undefined;
    const exchange = await this.sendOnce(bytes);
    return exchange.status === 0 && isReused ? this.sendOnce(bytes) : exchange;
  }

  close(): void {
    this.socket?.destroy();
  }

  private sendOnce(bytes: Buffer): Promise<Exchange> {
    this.received = Buffer.alloc(0);
    return new Promise((resolve) => {
      this.settle = resolve;
      this.socket ??= this.open();
      this.socket.write(bytes);
    });
  }

  private open(): Socket {
    const socket = connect({
      host: '127.0.0.1',
      port: this.port,
      localAddress: this.localAddress,
      noDelay: true,
    });
    socket.on('data', (chunk) => {
      this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
      const exchange = readResponse(this.received);
      if (!exchange) return;
      // The server closes the connection after an unreadable request.
      if (exchange.headers.connection === 'close') this.drop(socket);
      this.finish(exchange);
    });
    socket.on('error', () => undefined); // the `close` event follows
    socket.on('close', () => {
      if (this.socket !== socket) return;
      this.socket = undefined;
      this.finish(none);
    });
    return socket;
  }

  private drop(socket: Socket): void {
    this.socket = undefined;
    socket.destroy();
  }

  private finish(exchange: Exchange): void {
    const { settle } = this;
    this.settle = undefined;
    settle?.(exchange);
  }
}

/** Returns undefined while the response is incomplete. */
export function readResponse(bytes: Buffer): Exchange | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(statusLine.slice(9, 12));
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  if (status < 200) return readResponse(bytes.subarray(headEnd + 4));
  const rest = bytes.subarray(headEnd + 4);
  const body = status === 204 || status === 304 ? '' : readBody(rest, headers);
  return body === undefined ? undefined : { status, headers, body };
}

function readBody(rest: Buffer, headers: Readonly<Record<string, string>>): string | undefined {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(rest);
  const length = Number(headers['content-length'] ?? 0);
  return rest.length >= length ? rest.toString('utf8', 0, length) : undefined;
}

function readChunks(rest: Buffer): string | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (rest.length < end + 2) return undefined;
    if (size === 0) return Buffer.concat(chunks).toString();
    chunks.push(rest.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}

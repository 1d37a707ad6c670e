import { connect, type Socket } from 'node:net';
import { ResponseReader, type HttpResponse } from './response-reader.js';

/** A connection to a local port, with at most one request in flight. Reconnects after the server has closed it. */
export class HttpConnection {
  private socket: Socket | undefined;
  private reader = new ResponseReader();
  private waiting: { resolve: (response: HttpResponse) => void; reject: (error: Error) => void } | undefined;

  constructor(private readonly port: number) {}

  /** @param text an HTTP/1.1 request in ASCII. Rejects if the connection breaks. */
  request(text: string): Promise<HttpResponse> {
    if (this.waiting) return Promise.reject(new Error('the connection already has a request in flight'));
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.reader = new ResponseReader();
      this.socket ??= this.open();
      this.socket.write(text, 'latin1');
    });
  }

  close(): void {
    this.socket?.end();
  }

  private open(): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    socket.on('data', (chunk) => {
      this.receive(chunk);
    });
    socket.on('error', () => undefined); // the `close` event follows
    socket.on('close', () => {
      this.socket = undefined;
      this.fail(new Error(`the connection to port ${this.port} broke`));
    });
    return socket;
  }

  private receive(chunk: Buffer): void {
    try {
      const response = this.reader.add(chunk);
      if (!response) return;
      const { waiting } = this;
      this.waiting = undefined;
      waiting?.resolve(response);
    } catch (error) {
      this.socket?.destroy();
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private fail(error: Error): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.reject(error);
  }
}

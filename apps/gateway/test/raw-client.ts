import { connect, type Socket } from 'node:net';

/** A client that sends raw bytes from any address in 127.0.0.0/8 and collects the responses. */
export interface RawClient {
  socket: Socket;
  /** Everything received so far. */
  text: () => string;
  /** Statuses of the responses so far. */
  statuses: () => number[];
  /** Resolves when the connection is closed. */
  closed: Promise<void>;
}

export function openRawClient(port: number, { from = '127.0.0.1', bytes = '' } = {}): RawClient {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from }).setNoDelay();
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  // The server can close the connection while the client sends.
  socket.on('error', () => undefined);
  if (bytes !== '') socket.write(bytes, 'latin1');
  return {
    socket,
    text: () => received,
    statuses: () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
  };
}

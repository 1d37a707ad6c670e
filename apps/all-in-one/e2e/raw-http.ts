import { connect, type Socket } from 'node:net';
import type { Problem } from './api.js';

/** `status` is 0 when the server closed the socket without a response. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export type Headers = readonly (readonly [name: string, value: string])[];

/** A request that no HTTP client checks or encodes. `printRequest` adds only a few headers. */
export interface RawRequest {
  method?: string;
  target?: string;
  headers?: Headers;
  body?: string | Uint8Array;
}

// A response takes milliseconds, so a request that takes this long hangs.
const hangMs = 60_000;

/** Opens a socket to the server. The caller closes the client's side. */
export function openSocket(url: string): Socket {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true });
  socket.on('error', () => undefined); // the server can close the connection instead of responding
  return socket;
}

/**
 * Sends bytes and reads until the server closes the connection. With `isAll`, closes the client's side after sending. Of an event stream,
 * which never ends, reads only the head.
 */
export async function exchange(url: string, bytes: Uint8Array, isAll = false): Promise<RawAnswer> {
  const socket = openSocket(url);
  const chunks: Buffer[] = [];
  let isHanging = false;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    const [first = chunk] = chunks;
    if (parseAnswer(first.toString('latin1')).headers['content-type'] === 'text/event-stream')
      socket.destroy();
  });
  socket.on('end', () => socket.end());
  socket.setTimeout(hangMs, () => {
    isHanging = true;
    socket.destroy();
  });
  socket.write(bytes);
  if (isAll) socket.end();
  // `once` of node:events would reject on a socket error.
  await new Promise((resolve) => socket.once('close', resolve));
  if (isHanging) throw new Error(`no response to ${Buffer.from(bytes).toString('latin1').slice(0, 200)}`);
  return parseAnswer(Buffer.concat(chunks).toString('latin1'));
}

/** Formats a request. Adds `Host` and the correct `Content-Length` unless the headers contain them, and `Connection: close`. */
export function printRequest({ method = 'GET', target = '/', headers = [], body }: RawRequest): Buffer {
  const defaults: Headers = [
    ['Host', 'localhost'],
    ...(body === undefined ? [] : [['Content-Length', String(Buffer.byteLength(body))] as const]),
  ];
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const all = [
    ...defaults.filter(([name]) => !given.has(name.toLowerCase())),
    ...headers,
    ['Connection', 'close'],
  ];
  const lines = [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), Buffer.from(body ?? '')]);
}

/** Expects no server error, and a problem document for each client error. */
export function expectSound(answer: RawAnswer): void {
  expect(answer.status).toBeGreaterThanOrEqual(200);
  expect(answer.status).toBeLessThan(500);
  if (answer.status < 400) return;
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(problemOf(answer)).toMatchObject({
    type: 'about:blank',
    status: answer.status,
    title: expect.stringMatching(/./),
    detail: expect.stringMatching(/./),
  });
}

export function problemOf(answer: RawAnswer): Problem {
  return JSON.parse(answer.body) as Problem; // Safe cast: expectSound compares the problem document.
}

function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, '').split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(statusLine.split(' ')[1] ?? 0),
    headers: Object.fromEntries(headers),
    body: Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString(),
  };
}

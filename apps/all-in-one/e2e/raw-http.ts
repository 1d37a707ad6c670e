import { connect, type Socket } from 'node:net';
import type { Problem } from './api.js';

/** What came back over a socket; `status` is 0 when it was closed without an answer. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export type Headers = readonly (readonly [name: string, value: string])[];

/** A request that nothing checks, completes or encodes on the way. */
export interface RawRequest {
  method?: string;
  target?: string;
  headers?: Headers;
  body?: string | Uint8Array;
}

// An answer takes milliseconds: whatever takes this long hangs.
const hangMs = 15_000;

/** A socket to the server at a URL, on which the client decides when its end is closed. */
export function openSocket(url: string): Socket {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true });
  socket.on('error', () => undefined); // refused in the middle: a close is an answer too
  return socket;
}

/**
 * Sends bytes and reads until the server closes; `isAll` tells it that nothing more will come. Of an answer that goes on for
 * ever, a stream of events, it reads the head.
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
  // Not `once` of node:events, which fails for an error.
  await new Promise((resolve) => socket.once('close', resolve));
  if (isHanging) throw new Error(`no answer to ${Buffer.from(bytes).toString('latin1').slice(0, 200)}`);
  return parseAnswer(Buffer.concat(chunks).toString('latin1'));
}

/** The bytes of a request, with a host and the right length of its body unless the headers say otherwise. */
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

/** Fails for a fault of the server, and for an error that is not told as a problem document. */
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
  return JSON.parse(answer.body) as Problem; // holds as far as expectSound compares it
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

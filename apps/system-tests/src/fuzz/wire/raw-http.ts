import { connect } from 'node:net';
import type { FuzzBed } from '../fuzz-bed.js';
import { readResponse } from './http-exchange.js';
import { judgeHead } from './http-targets.js';
import { localAddress, type WireTarget } from './wire-target.js';

let connections = 0;

/** Sends bytes that are almost HTTP. Each input uses its own connection. */
export function rawHttpTarget({ port, system }: FuzzBed): WireTarget {
  const body = '{"event_type":"raid","event_source":"fuzzing","event_data":{}}';
  const head = (method: string, path: string, ...headers: string[]): string =>
    [`${method} ${path} HTTP/1.1`, 'Host: fuzzing', ...headers, '', ''].join('\r\n');
  const authorization = `Authorization: Token ${system.token}`;
  const json = 'Content-Type: application/json';
  const path = '/api/v1/platform-events';
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  return {
    name: 'HTTP',
    description:
      'requests whose bytes are changed anywhere: request line, headers, framing, chunks, upgrades',
    concurrency: 32,
    seeds: [
      head('GET', `${path}?page_size=1`, authorization),
      head('POST', path, authorization, json, `Content-Length: ${body.length}`) + body,
      head('POST', path, authorization, json, 'Transfer-Encoding: chunked') + chunked,
      head('POST', path, authorization, json, 'Expect: 100-continue', `Content-Length: ${body.length}`) +
        body,
      head('HEAD', '/api/v1/heartbeat') + head('GET', '/api/v1/heartbeat', 'Connection: close'),
      head('OPTIONS', path, 'Origin: http://a', 'Access-Control-Request-Method: POST'),
      head(
        'GET',
        '/ws/platform-events',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ),
    ],
    words: [
      '\r\n',
      ' HTTP/1.1',
      'Content-Length: ',
      'Transfer-Encoding: ',
      'chunked',
      'Connection: ',
      'X-Forwarded-For: ',
      'Accept-Encoding: ',
    ],
    send: (input) => exchange(port, input),
  };
}

// Half-close the connection after this time. Node drops a pending request when its client half-closes, so wait until only requests that
// need more bytes are pending.
const endAfterMs = 300;

function exchange(port: number, input: Buffer): Promise<string> {
  connections += 1;
  const socket = connect({
    host: '127.0.0.1',
    port,
    localAddress: localAddress(connections),
    allowHalfOpen: true,
  });
  let received: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (isAnswered(received)) socket.destroy();
  });
  socket.on('error', () => undefined); // the `close` event follows
  socket.on('end', () => socket.end());
  socket.write(input);
  const timer = setTimeout(() => socket.end(), endAfterMs);
  return new Promise((resolve, reject) => {
    socket.once('close', () => {
      clearTimeout(timer);
      try {
        resolve(judgeBytes(received));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

/** Whether a whole response has arrived. For accepted WebSockets and event streams, the head is enough, because they stay open. */
function isAnswered(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, 1_000);
  return /^HTTP\/1\.1 101|content-type: text\/event-stream/i.test(head) || readResponse(bytes) !== undefined;
}

/** Outcome of the first response. An unreadable request may get none. */
function judgeBytes(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, 12);
  if (bytes.length === 0) return 'closed';
  if (text === 'HTTP/1.1 101') return '101';
  const response = readResponse(bytes);
  // Ignore bodies: a response to HEAD has a length but no body. After a 100 response, the connection may end without a final response.
  return response ? judgeHead(response) : text.slice(9);
}

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { becomeWebSocket, responseOn } from './client-limits.js';
import { hasOneHost } from './host-header.js';
import { canonicalUrl, pathOf } from './paths.js';

/** Takes over the socket of a WebSocket request. `head` holds the bytes that the client sent after the request. */
type TakeSocket = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Passes WebSocket requests for `path` and its aliases to `take`. Serves all other upgrade requests without the upgrade, as RFC 9110 §7.8
 * allows. Several HTTP clients offer HTTP/2 in their first request, and Node gives such a request only to the upgrade listener. Closes the
 * connection of a client that does not wait for the response to its earlier request.
 */
export function takeWebSocketUpgrades(server: Server, path: string, take: TakeSocket): void {
  server.on('upgrade', (request, socket, head) => {
    const isWebSocket =
      request.method === 'GET' &&
      request.headers.upgrade?.toLowerCase() === 'websocket' &&
      // A request without exactly one Host header is served without its upgrade, and the server then rejects it.
      hasOneHost(request);
    // Node does not watch the connection any more, so an earlier response could stay open forever.
    if (responseOn(socket)) return void socket.destroy();
    if (!isWebSocket || pathOf(canonicalUrl(request.url ?? '/')) !== path)
      return serveWithoutUpgrade(server, { request, socket, head });
    becomeWebSocket(socket);
    take(request, socket, head);
  });
}

/** Writes the request back to its socket without the Upgrade header, and returns the socket to the server. */
function serveWithoutUpgrade(
  server: Server,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}\r\n`];
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${rawHeaders[index + 1]}\r\n`);
  }
  // Node decodes request heads as Latin-1, so encode the head as Latin-1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('')}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

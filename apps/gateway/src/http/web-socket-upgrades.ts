import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { hasOneHost } from './host-header.js';
import { canonicalUrl, pathOf } from './paths.js';

/** Takes over the socket of a WebSocket request. `head` holds the bytes that the client already sent after the request. */
type TakeSocket = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Passes WebSocket requests for a (canonical) path to `take`. Serves all other upgrade requests as ordinary requests, as RFC 9110 §7.8
 * allows. Several HTTP clients ask for HTTP/2 in the first request of a connection, and Node passes such requests only to the upgrade
 * listener if the server has one.
 */
export function takeWebSocketUpgrades(server: Server, path: string, take: TakeSocket): void {
  server.on('upgrade', (request, socket, head) => {
    const isWebSocket =
      request.method === 'GET' &&
      request.headers.upgrade?.toLowerCase() === 'websocket' &&
      // Without exactly one Host header, the request is served without its upgrade, and the server rejects it.
      hasOneHost(request);
    afterEarlierResponses(socket, () => {
      if (isWebSocket && pathOf(canonicalUrl(request.url ?? '/')) === path) take(request, socket, head);
      else serveWithoutUpgrade(server, { request, socket, head });
    });
  });
}

/** Calls `next` after all responses to earlier requests on the connection. Never calls it if the connection closes first. */
function afterEarlierResponses(socket: Duplex, next: () => void): void {
  // A private field of Node with the response in progress. There is no public equivalent.
  const response: unknown = '_httpMessage' in socket ? socket._httpMessage : undefined;
  if (!(response instanceof ServerResponse)) return next();
  // Until `next` is called, the socket has no other error listener.
  const onError = (): void => void socket.destroy();
  socket.on('error', onError);
  response.once('close', () => {
    // A destroyed socket may still emit its error, so the listener stays.
    if (socket.destroyed) return;
    socket.off('error', onError);
    afterEarlierResponses(socket, next);
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
  // Node decodes the head of a request as Latin-1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('')}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

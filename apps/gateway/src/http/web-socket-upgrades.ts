import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { canonicalUrl, pathOf } from './paths.js';

/** Takes the socket of a request that asks for a WebSocket; `head` is what it has already sent beyond the request. */
type TakeSocket = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Hands over the requests for a WebSocket at a path, which is canonical. All others that would upgrade their connection are
 * answered as if they had not asked, which a server may do (RFC 9110 §7.8): several HTTP clients ask for HTTP/2 with each
 * first request, and Node keeps these from their routes as soon as anybody listens for upgrades.
 */
export function takeWebSocketUpgrades(server: Server, path: string, take: TakeSocket): void {
  server.on('upgrade', (request, socket, head) => {
    const isWebSocket = request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket';
    onceAnswered(socket, () => {
      if (isWebSocket && pathOf(canonicalUrl(request.url ?? '/')) === path) take(request, socket, head);
      else answerWithoutUpgrade(server, { request, socket, head });
    });
  });
}

/** Goes on when the answers to earlier requests on the connection are out; not at all when it ends before. */
function onceAnswered(socket: Duplex, goOn: () => void): void {
  // Node keeps it there for itself, and has no other word for it.
  const answer: unknown = '_httpMessage' in socket ? socket._httpMessage : undefined;
  if (!(answer instanceof ServerResponse)) return goOn();
  // Nobody else listens meanwhile.
  const onError = (): void => void socket.destroy();
  socket.on('error', onError);
  answer.once('close', () => {
    // What has ended may still have its error to tell.
    if (socket.destroyed) return;
    socket.off('error', onError);
    onceAnswered(socket, goOn);
  });
}

/** Puts the request back on its socket without the header, and the socket back on the server. */
function answerWithoutUpgrade(
  server: Server,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}\r\n`];
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${rawHeaders[index + 1]}\r\n`);
  }
  // Node reads the lines of a request as Latin-1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('')}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

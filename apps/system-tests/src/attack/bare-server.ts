import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A server of Node that does nothing but refuse requests. An attack on it next to a gateway shows
// what the attackers alone take from the machine that they share with the gateway.

const description = readFileSync('docs/openapi.json');

// As at a gateway.
const limits = { headersTimeout: 10_000, connectionsCheckingInterval: 100 };

const server = createServer(limits, (request, response) => {
  // The attack with unread responses needs one that is long.
  if (request.url === '/api/openapi.json') return void response.end(description);
  response.writeHead(503, { connection: 'close' }).end();
});
server.on('upgrade', (_request, socket) =>
  socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n'),
);
server.on('connection', (socket) => socket.on('error', () => undefined)); // attackers reset connections; a close follows

process.once('SIGTERM', () => process.exit(0));
// The test has ended without a stop.
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // Safe cast: it listens on TCP.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A Node server that only refuses requests. An attack on this server instead of the gateway shows how much of the shared machine the
// attackers themselves use.

const description = readFileSync('docs/openapi.json');

// The same timeouts as in a gateway.
const limits = { headersTimeout: 10_000, connectionsCheckingInterval: 100 };

const server = createServer(limits, (request, response) => {
  // The attack that reads no responses needs a long response.
  if (request.url === '/api/openapi.json') return void response.end(description);
  response.writeHead(503, { connection: 'close' }).end();
});
server.on('upgrade', (_request, socket) =>
  socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n'),
);
server.on('connection', (socket) => socket.on('error', () => undefined)); // attackers reset connections; a close follows

process.once('SIGTERM', () => process.exit(0));
// The test exited without stopping this server.
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // Safe cast: TCP.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A Node server that refuses all requests. The attackers use CPU on the same machine; attacking this server instead of the gateway shows
// how much CPU they use.

const description = readFileSync('docs/openapi.json');

// Same timeouts as the gateway.
const limits = { headersTimeout: 10_000, connectionsCheckingInterval: 100 };

const server = createServer(limits, (request, response) => {
  // One attack never reads responses. This long response fills the buffers.
  if (request.url === '/api/openapi.json') return void response.end(description);
  response.writeHead(503, { connection: 'close' }).end();
});
server.on('upgrade', (_request, socket) =>
  socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n'),
);
server.on('connection', (socket) => socket.on('error', () => undefined)); // attackers reset connections; `close` follows

process.once('SIGTERM', () => process.exit(0));
// Exit with the test, even if the test did not stop this server.
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)); // Safe cast: the server listens on TCP.

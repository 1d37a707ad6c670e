import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Health } from './health.js';

/** A running admin server. */
export interface AdminServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Serves `/health/live`, `/health/ready`, and `/metrics` of a process on a port apart from the public one. There is no
 * authentication: the server listens on `host`, which is the local machine by default.
 */
export async function startAdminServer(options: {
  host: string;
  port: number;
  health: Health;
  metrics: Registry;
}): Promise<AdminServer> {
  const server = createServer(respond(options.health, options.metrics));
  server.requestTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port, // Safe cast: the server listens on TCP, so the address is an object.
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(health: Health, metrics: Registry): RequestListener {
  return (request, response) => {
    const send = (status: number, type: string, body: string): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    };
    const answer = async (): Promise<void> => {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        send(405, 'text/plain', 'Method Not Allowed\n');
        return;
      }
      switch (request.url?.split('?')[0]) {
        case '/health/live':
          send(200, 'application/json', '{"status":"ok"}\n');
          break;
        case '/health/ready': {
          const report = await health.report();
          send(report.status === 'ok' ? 200 : 503, 'application/json', `${JSON.stringify(report)}\n`);
          break;
        }
        case '/metrics':
          send(200, metrics.contentType, await metrics.metrics());
          break;
        default:
          send(404, 'text/plain', 'Not Found: the paths are /health/live, /health/ready, and /metrics\n');
      }
    };
    answer().catch((error: unknown) => send(500, 'text/plain', `${String(error)}\n`));
  };
}

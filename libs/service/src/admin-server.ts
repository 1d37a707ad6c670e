import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { isIPv4, type AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Health } from './health.js';

export interface AdminServer {
  port: number;
  close(): Promise<void>;
}

export interface AdminOptions {
  host: string;
  port: number;
  /**
   * The token that clients must present to see metrics and failure details. Without a token, only a server that listens on loopback shows
   * them.
   */
  token?: string | undefined;
}

/** Who may see metrics and failure details: everybody, clients with the token, or nobody. */
type Permission = { kind: 'everybody' | 'nobody' } | { kind: 'token'; hash: Buffer };

/**
 * Serves `/health/live`, `/health/ready`, and `/metrics` on a separate port. Probes need no token. Metrics and failure details can name
 * hosts, users, and volumes, so only clients with the token see them. Without a token, only a server that listens on loopback shows them.
 * Such a server also rejects requests for other hosts: a web page could otherwise read it through a name that resolves to loopback (DNS
 * rebinding).
 */
export async function startAdminServer({
  host,
  port,
  token,
  health,
  metrics,
}: AdminOptions & { health: Health; metrics: Registry }): Promise<AdminServer> {
  const accepts = isLocal(host) ? isForLocalHost : () => true;
  const server = createServer(respond(permissionOf(host, token), accepts, { health, metrics }));
  server.requestTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
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

function permissionOf(host: string, token: string | undefined): Permission {
  if (token !== undefined) return { kind: 'token', hash: hash(token) };
  return { kind: isLocal(host) ? 'everybody' : 'nobody' };
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function mayRead(permission: Permission, { headers }: IncomingMessage): boolean {
  if (permission.kind !== 'token') return permission.kind === 'everybody';
  const [, token = ''] = /^bearer +([^\s]+)$/i.exec(headers.authorization ?? '') ?? [];
  return timingSafeEqual(hash(token), permission.hash);
}

/** Whether the `Host` header names loopback. HTTP/1.0 clients may omit the header; browsers never do. */
function isForLocalHost({ headers: { host = 'localhost' } }: IncomingMessage): boolean {
  const [, name = ''] = /^\[?(.*?)\]?(?::\d*)?$/.exec(host) ?? [];
  return isLocal(name.toLowerCase());
}

function respond(
  permission: Permission,
  accepts: (request: IncomingMessage) => boolean,
  { health, metrics }: { health: Health; metrics: Registry },
): RequestListener {
  return (request, response) => {
    const send = (status: number, type: string, body: string): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    };
    const answer = async (): Promise<void> => {
      if (!accepts(request)) {
        send(421, 'text/plain', 'Misdirected Request: use localhost, 127.0.0.1, or [::1] as the host\n');
        return;
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        send(405, 'text/plain', 'Method Not Allowed\n');
        return;
      }
      switch (request.url?.split('?')[0]) {
        case '/health/live':
          send(200, 'application/json', '{"status":"ok"}\n');
          break;
        case '/health/ready': {
          const { status, checks } = await health.report();
          const body = mayRead(permission, request) ? { status, checks } : { status };
          send(status === 'ok' ? 200 : 503, 'application/json', `${JSON.stringify(body)}\n`);
          break;
        }
        case '/metrics':
          if (mayRead(permission, request)) send(200, metrics.contentType, await metrics.metrics());
          else if (permission.kind === 'nobody')
            send(403, 'text/plain', 'Forbidden: set METRICS_TOKEN, and send it as a bearer token\n');
          else {
            response.setHeader('www-authenticate', 'Bearer');
            send(401, 'text/plain', 'Unauthorized: send METRICS_TOKEN as a bearer token\n');
          }
          break;
        default:
          send(404, 'text/plain', 'Not Found: the paths are /health/live, /health/ready, and /metrics\n');
      }
    };
    answer().catch((error: unknown) => send(500, 'text/plain', `${String(error)}\n`));
  };
}

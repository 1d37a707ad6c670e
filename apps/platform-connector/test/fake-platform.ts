import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface ReceivedCall {
  /** The endpoint's name, such as `GET /api/users`. */
  name: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
  at: number;
}

/** Handles a request instead of the platform. Returns false to let the platform handle it. */
export type Fault = (call: ReceivedCall, response: ServerResponse) => boolean;

type Answer = [status: number, body?: unknown];

/**
 * A small platform over real HTTP: issues tokens, enforces the rate limit, and returns the users, streams, and subscriptions that a test
 * provides.
 */
export class FakePlatform {
  readonly calls: ReceivedCall[] = [];
  isSimulation = true;
  clientSecret = `secret-${randomBytes(8).toString('hex')}`;
  expiresInSeconds = 5_000_000;
  /** How long issuing a token takes, in milliseconds. */
  tokenDelayMs = 0;
  callsPerMinute = 800;
  /** Handles a request instead of the platform. Returns false to let the platform handle it. */
  fault: Fault = () => false;
  /** The replies of endpoints, by endpoint name. */
  readonly answers = new Map<string, (call: ReceivedCall) => Answer>();
  readonly tokens: string[] = [];
  private readonly validTokens = new Set<string>();
  private bucket: { left: number; at: number } | undefined = undefined;

  private constructor(private readonly server: Server) {}

  static async start(port = 0): Promise<FakePlatform> {
    const server = createServer();
    // Never close idle connections here; the client does. Otherwise, a busy client could send a request on a connection that the server has
    // just closed.
    server.keepAliveTimeout = 0;
    const platform = new FakePlatform(server);
    server.on('request', (request, response) => void platform.onRequest(request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return platform;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port; // Safe cast: the server listens on TCP.
  }

  count(name: string): number {
    return this.calls.filter((call) => call.name === name).length;
  }

  revokeTokens(): void {
    this.validTokens.clear();
  }

  /** Resets everything, and generates a new secret. */
  reset(): void {
    const fresh = new FakePlatform(this.server);
    Object.assign(this, fresh);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // Safe cast: no encoding is set.
    const url = new URL(request.url ?? '/', 'http://platform');
    const call: ReceivedCall = {
      name: `${request.method} ${url.pathname}`,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      at: performance.now(),
    };
    this.calls.push(call);
    if (this.isSimulation) response.setHeader('X-Platform-Simulation', 'true');
    if (this.fault(call, response)) return;
    if (call.name === 'POST /oauth2/token' && this.tokenDelayMs > 0) await wait(this.tokenDelayMs);
    const [status, body] =
      call.name === 'POST /oauth2/token' ? this.issueToken(call) : this.answerCall(call, response);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  private issueToken({ body }: ReceivedCall): Answer {
    const form = new URLSearchParams(body);
    if (form.get('client_secret') !== this.clientSecret)
      return [403, { status: 403, message: 'invalid client secret' }];
    const token = `token-${randomBytes(12).toString('hex')}`;
    this.tokens.push(token);
    this.validTokens.add(token);
    return [200, { access_token: token, expires_in: this.expiresInSeconds, token_type: 'bearer' }];
  }

  private answerCall(call: ReceivedCall, response: ServerResponse): Answer {
    const left = this.takeFromBucket();
    response.setHeader('Ratelimit-Limit', String(this.callsPerMinute));
    response.setHeader('Ratelimit-Remaining', String(Math.max(0, Math.floor(left))));
    response.setHeader('Ratelimit-Reset', String(Math.ceil(Date.now() / 1_000) + 60));
    if (left < 0) return [429, { error: 'Too Many Requests', status: 429, message: 'slow down' }];
    const token = call.headers.authorization?.replace('Bearer ', '') ?? '';
    if (!this.validTokens.has(token))
      return [401, { error: 'Unauthorized', status: 401, message: 'Invalid OAuth token' }];
    const answer = this.answers.get(call.name);
    return answer ? answer(call) : [404, { error: 'Not Found', status: 404, message: '' }];
  }

  private takeFromBucket(): number {
    const now = performance.now();
    const { left, at } = this.bucket ?? { left: this.callsPerMinute, at: now };
    const refilled = Math.min(this.callsPerMinute, left + ((now - at) * this.callsPerMinute) / 60_000);
    this.bucket = { left: refilled < 1 ? refilled : refilled - 1, at: now };
    return refilled - 1;
  }
}

/** Replies after a delay, unless the client disconnects first. */
export function answerLate(response: ServerResponse, delayMs: number): boolean {
  const timer = setTimeout(() => response.end('{}'), delayMs);
  response.on('close', () => clearTimeout(timer));
  return true;
}

export function answerWith(response: ServerResponse, status: number, body: string): boolean {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body);
  return true;
}

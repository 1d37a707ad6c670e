import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Health, Registry, ShellModule } from '@stream-events/service';
import { createTestDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import pino from 'pino';
import { DataSource } from 'typeorm';
import { WebSocket, type ClientOptions } from 'ws';
import type { HttpLimits } from '../src/http/http-limits.js';
import { createHttpServer } from '../src/http/http-server.js';
import { ProblemFilter } from '../src/http/problem.filter.js';
import { RequestLog } from '../src/http/request-log.js';
import { RouteMethods } from '../src/http/route-methods.js';
import { EventFeed } from '../src/live/stream/event-feed.service.js';
import { EventHistory } from '../src/live/stream/event-history.service.js';
import { LiveConnections } from '../src/live/connections/live-connections.service.js';
import { LiveController } from '../src/live/transports/live.controller.js';
import { TokenWatch } from '../src/live/connections/token-watch.service.js';
import { WebSockets } from '../src/live/transports/web-sockets.service.js';
import { AccessControl } from '../src/access/access-control.service.js';
import { AccessGuard } from '../src/access/access.guard.js';
import { RateLimits } from '../src/access/rate-limits.service.js';
import { UserTurns } from '../src/access/user-turns.service.js';
import { TokenLookup } from '../src/access/token-lookup.service.js';
import { Tokens } from '../src/tokens/tokens.service.js';
import { connectGateway } from './connect-gateway.js';
import { insertUser } from './insert-user.js';
import { MemoryFeed } from './memory-feed.js';
import {
  connectionLimits,
  type ConnectionLimits,
  type WebSocketLimits,
  webSocketLimits,
} from '../src/live/live-limits.js';

// Time limit for the first token. Long, because a busy machine must finish the other steps of a test first.
const patientTokenMs = 120_000;

export interface EdgeLimits {
  sockets?: Partial<WebSocketLimits>;
  connections?: Partial<ConnectionLimits>;
  http?: Partial<HttpLimits>;
}

export interface TestUser {
  id: string;
  token: string;
}

/** A WebSocket client that collects all messages. */
export interface TestClient {
  socket: WebSocket;
  messages: string[];
  closed: Promise<{ code: number; reason: string }>;
}

/** The live edges of a gateway: a real HTTP server with real tokens, but with an in-memory event stream. */
export class LiveEdges {
  readonly logLines: string[] = [];
  feed = new MemoryFeed();
  app!: NestFastifyApplication;
  url!: string;

  private constructor(
    private readonly database: TestDatabase,
    readonly dataSource: DataSource,
  ) {}

  static async create(): Promise<LiveEdges> {
    const database = await createTestDatabase();
    return new LiveEdges(database, await connectGateway(database, 5));
  }

  async start({ sockets, connections, http }: EdgeLimits = {}): Promise<void> {
    this.feed = new MemoryFeed();
    const { feed } = this;
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.logLines.push(chunk.toString());
        done();
      },
    });
    const config = { SECRET_KEY: ['a secret key of the tests, long enough'], REGISTRATION: 'owner' };
    const shell = {
      config,
      logger: pino({ level: 'trace' }, sink),
      health: new Health(),
      metrics: new Registry(),
    };
    const routes = new RouteMethods();
    const adapter = createHttpServer(false, http);
    routes.watch(adapter.getInstance());
    const limits = {
      sockets: {
        ...webSocketLimits,
        plainFormat: 'plain' as const,
        tokenMs: patientTokenMs,
        ...sockets,
      },
      connections: { ...connectionLimits, perUser: 1_000, ...connections },
    };
    this.app = await NestFactory.create<NestFastifyApplication>(
      {
        module: class {},
        imports: [ShellModule.register(shell)],
        controllers: [LiveController],
        providers: [
          { provide: DataSource, useValue: this.dataSource },
          { provide: RouteMethods, useValue: routes },
          RequestLog,
          { provide: APP_FILTER, useClass: ProblemFilter },
          { provide: APP_GUARD, useClass: AccessGuard },
          AccessControl,
          {
            provide: RateLimits,
            useValue: new RateLimits({ RATE_LIMIT_REQUESTS: 0, RATE_LIMIT_WRITES: 0 }),
          },
          { provide: UserTurns, useValue: new UserTurns({ RATE_LIMIT_REQUESTS: 0 }) },
          TokenLookup,
          Tokens,
          TokenWatch,
          { provide: EventFeed, useValue: feed },
          // The ring buffer has all events, so nothing reads the history.
          { provide: EventHistory, useValue: {} },
          {
            provide: LiveConnections,
            inject: [EventFeed, EventHistory],
            useFactory: (source: EventFeed, history: EventHistory) =>
              new LiveConnections(source, history, shell.metrics, limits.connections),
          },
          {
            provide: WebSockets,
            inject: [LiveConnections, TokenLookup, RateLimits],
            useFactory: (live: LiveConnections, tokens: TokenLookup, rates: RateLimits) =>
              new WebSockets(live, tokens, rates, shell.logger, limits.sockets),
          },
        ],
      },
      adapter,
      { bodyParser: false, logger: false, abortOnError: false },
    );
    this.app.get(AccessControl).watch(adapter.getInstance());
    this.app.enableCors({ origin: '*', exposedHeaders: ['X-Request-Id'] });
    this.app.get(WebSockets).attach(this.app.getHttpServer());
    await this.app.listen(0, '127.0.0.1');
    this.url = await this.app.getUrl();
  }

  /** Stops in the same order as the gateway. */
  async stop(): Promise<void> {
    this.app.get(LiveConnections).stop();
    this.app.get(WebSockets).stop();
    await this.app.close();
  }

  async dispose(): Promise<void> {
    await this.dataSource.destroy();
    await this.database.drop();
  }

  get server(): Server {
    return this.app.getHttpServer();
  }

  /** Reads the number of live connections from the metric. */
  async liveCount(): Promise<number> {
    const text = await this.app.get(Registry).metrics();
    return Number(/^live_connections (\d+)$/m.exec(text)?.[1]);
  }

  async untilLive(count: number): Promise<void> {
    await eventually(async () => expect(await this.liveCount()).toBe(count), { intervalMs: 10 });
  }

  async register(): Promise<TestUser> {
    const { id } = await insertUser(this.dataSource);
    return { id, token: await this.app.get(Tokens).issueMain(id) };
  }

  /** Opens a WebSocket. Sends `first`, if given. */
  async connect(
    first?: unknown,
    { path = '/ws/platform-events/', ...options }: ClientOptions & { path?: string } = {},
  ): Promise<TestClient> {
    const socket = new WebSocket(this.url.replace('http', 'ws') + path, options);
    const messages: string[] = [];
    socket.on('message', (data: Buffer) => messages.push(data.toString()));
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('error', () => undefined);
    await once(socket, 'open');
    if (first !== undefined) socket.send(typeof first === 'string' ? first : JSON.stringify(first));
    return { socket, messages, closed };
  }

  /** Attempts a handshake that the server rejects. Returns the status, body, and Retry-After header. */
  async refusal(path: string, options: ClientOptions = {}) {
    const socket = new WebSocket(this.url.replace('http', 'ws') + path, options);
    socket.on('error', () => undefined);
    socket.on('open', () => socket.terminate());
    const answered = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>; // Safe cast: the event has these arguments.
    const answer = await Promise.race([answered, once(socket, 'open')]);
    if (answer.length === 0) throw new Error('the handshake was accepted');
    const [, response] = answer as [unknown, IncomingMessage]; // Safe cast: 'open' has no arguments.
    return [response.statusCode, await text(response), response.headers['retry-after']] as const;
  }

  openStream(token: string | undefined, path = '/api/v1/platform-events/stream', init: RequestInit = {}) {
    const headers = { ...(token && { authorization: `Token ${token}` }), ...init.headers };
    return fetch(this.url + path, { ...init, headers });
  }
}

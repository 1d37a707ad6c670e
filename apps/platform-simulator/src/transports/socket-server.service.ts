import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable, NotFoundException, type OnModuleDestroy } from '@nestjs/common';
import { WebSocketServer, type WebSocket } from 'ws';
import { FaultsService } from '../behavior/faults.service.js';
import { PlatformLimits } from '../behavior/platform-limits.js';
import { ControlAccess } from '../http/control-access.js';
import { closeSocket, socketPath, SocketSession, type SocketStatus } from './socket-session.js';

// Maximum number of sessions, to bound memory. No test needs more.
const maxSessions = 2_000;

// Limits of the keepalive interval in seconds; other values are clamped (FACTS.md §2).
const keepaliveBounds = { min: 10, max: 600, default: 10 };

/** Accepts clients without a token, like the platform's socket server. */
@Injectable()
export class SocketServer implements OnModuleDestroy {
  /** Emits `ended` after each session. */
  readonly events = new EventEmitter<{ ended: [SocketSession, SocketStatus] }>();
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: 64 * 1024,
  });
  private readonly sessions = new Map<string, SocketSession>();

  constructor(
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(ControlAccess) private readonly access: ControlAccess,
  ) {}

  /** Accepts WebSocket upgrades on this HTTP server. */
  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy()); // Node reports errors of a socket without a request here
      const url = new URL(request.url ?? '', 'ws://simulator');
      if (url.pathname !== socketPath) return refuse(socket, '404 Not Found');
      if (this.access.isForeignOrigin(request)) return refuse(socket, '403 Forbidden');
      if (this.faults.apiAt(Date.now()).mode === 'down') return void socket.destroy();
      if (this.sessions.size >= maxSessions) return refuse(socket, '503 Service Unavailable');
      this.server.handleUpgrade(request, socket, head, (webSocket) => {
        this.accept(webSocket, url.searchParams, request.headers.host ?? '');
      });
    });
  }

  /** Returns undefined if the session has ended. */
  find(id: string): SocketSession | undefined {
    return this.sessions.get(id);
  }

  /** Without an id, returns all sessions. @throws NotFoundException if the id is unknown */
  select(id: string | undefined): SocketSession[] {
    if (id === undefined) return [...this.sessions.values()];
    const session = this.find(id);
    if (!session) throw new NotFoundException(`there is no session ${id}`);
    return [session];
  }

  onModuleDestroy(): void {
    for (const session of this.sessions.values()) session.terminate();
  }

  private accept(socket: WebSocket, query: URLSearchParams, host: string): void {
    const challenge = query.get('challenge');
    if (challenge !== null) return this.resume(socket, query.get('id') ?? '', challenge);
    const secondMs = this.limits.current.socket_second_ms;
    const keepaliveSeconds = readKeepalive(query.get('keepalive_timeout_seconds'));
    const session = new SocketSession(socket, { host, keepaliveSeconds, secondMs });
    this.sessions.set(session.id, session);
    session.events.once('ended', (status) => {
      this.sessions.delete(session.id);
      this.events.emit('ended', session, status);
    });
  }

  /** Each challenge works once, and only while the old socket is open (FACTS.md §2). */
  private resume(socket: WebSocket, id: string, challenge: string): void {
    const session = this.find(id);
    if (session?.challenge === challenge) session.adopt(socket);
    else closeSocket(socket, 4007);
  }
}

function readKeepalive(text: string | null): number {
  const { min, max, default: fallback } = keepaliveBounds;
  const number = Number(text ?? fallback);
  return Number.isFinite(number) ? Math.min(max, Math.max(min, Math.round(number))) : fallback;
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

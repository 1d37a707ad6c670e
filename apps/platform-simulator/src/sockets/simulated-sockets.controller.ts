import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { DisturbSocketsDto } from './simulated-socket.dto.js';
import { SocketServer } from './socket-server.service.js';
import type { SocketSession } from './socket-session.js';

interface SimulatedSocket {
  session_id: string;
  connected_at: string;
  is_silent: boolean;
  delay_ms: number;
  is_reconnecting: boolean;
}

/** Lists the clients' sockets and disturbs them. */
@Controller('simulator/sockets')
export class SimulatedSocketsController {
  constructor(@Inject(SocketServer) private readonly server: SocketServer) {}

  @Get()
  list(): { sockets: SimulatedSocket[] } {
    return { sockets: this.server.select(undefined).map(describe) };
  }

  /** Returns the sockets that the action changed. */
  @Post()
  @HttpCode(200)
  disturb(@Body() request: DisturbSocketsDto): { sockets: SimulatedSocket[] } {
    const sessions = this.server.select(request.session_id);
    for (const session of sessions) this.act(session, request);
    return { sockets: sessions.map(describe) };
  }

  private act(session: SocketSession, { action, code, delay_ms }: DisturbSocketsDto): void {
    switch (action) {
      case 'close':
        return session.close(code);
      case 'reconnect':
        return this.server.requestReconnect(session);
      case 'silence':
        session.isSilent = true;
        return;
      case 'slow':
        session.delayMs = delay_ms;
        return;
      case 'recover':
        session.isSilent = false;
        session.delayMs = 0;
    }
  }
}

function describe({ view, isSilent, delayMs, challenge }: SocketSession): SimulatedSocket {
  const { session_id, connected_at } = view;
  const state = { is_silent: isSilent, delay_ms: delayMs, is_reconnecting: challenge !== null };
  return { session_id, connected_at, ...state };
}

import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { IsIn, IsInt, Max, Min, ValidateIf } from 'class-validator';
import { IsOptionalText } from '../http/validation.js';
import { SocketServer } from './socket-server.service.js';
import { closeCodes, type CloseCode, type SocketSession } from './socket-session.js';

const socketActions = ['close', 'reconnect', 'silence', 'slow', 'recover'] as const;

/** Body of `POST /simulator/sockets`. Without a session id, the action applies to all sockets. */
class DisturbSocketsDto {
  @IsIn(socketActions)
  action!: (typeof socketActions)[number];

  @IsOptionalText()
  session_id?: string;

  /** For the action `close`. */
  @ValidateIf(({ action }: DisturbSocketsDto) => action === 'close')
  @IsIn(closeCodes)
  code!: CloseCode;

  /** Delay per frame, for the action `slow`. */
  @ValidateIf(({ action }: DisturbSocketsDto) => action === 'slow')
  @IsInt()
  @Min(0)
  @Max(600_000) // short enough for a timer, long enough for any test
  delay_ms!: number;
}

export type SimulatedSocket = ReturnType<typeof describe>;

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
        return session.reconnect();
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

function describe({ view, isSilent, delayMs, challenge }: SocketSession) {
  const { session_id, connected_at } = view;
  const state = { is_silent: isSilent, delay_ms: delayMs, is_reconnecting: challenge !== null };
  return { session_id, connected_at, ...state };
}

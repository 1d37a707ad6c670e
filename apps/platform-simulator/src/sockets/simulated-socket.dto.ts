import { IsIn, IsInt, IsOptional, IsString, Max, Min, ValidateIf } from 'class-validator';
import { closeCodes, type CloseCode } from './close-reasons.js';

export const socketActions = ['close', 'reconnect', 'silence', 'slow', 'recover'] as const;
export type SocketAction = (typeof socketActions)[number];

/** Body of `POST /simulator/sockets`. Without a session id, the action applies to all sockets. */
export class DisturbSocketsDto {
  @IsIn(socketActions)
  action!: SocketAction;

  @IsOptional()
  @IsString()
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

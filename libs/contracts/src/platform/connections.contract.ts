import { Type } from 'class-transformer';
import {
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  ValidateNested,
} from 'class-validator';
import { defineContract, EmptyRequest } from '../contract.js';
import { AcceptedReply } from './subscriptions.contract.js';

/**
 * ```
 *            the user gives consent               the platform ends the consent
 *  pending ──────────────────────────▶ connected ──────────────────────────────▶ reconnect_needed
 *     │
 *     └── the code expires, or the user refuses ──▶ expired
 * ```
 *
 * To leave `reconnect_needed` and `expired`, start a new connection of the same user.
 */
export const connectionStates = ['pending', 'connected', 'reconnect_needed', 'expired'] as const;
export type ConnectionState = (typeof connectionStates)[number];

/** A channel that has given consent, or is asked for it. */
export class ConnectionMessage {
  /** UUIDv7. */
  @IsUUID('all')
  id!: string;

  @IsIn(connectionStates)
  state!: ConnectionState;

  /** The platform's id of the user; null until the user has given consent. */
  @IsOptional()
  @IsString()
  userId!: string | null;

  /** The user's name in lower case; null until the user has given consent. */
  @IsOptional()
  @IsString()
  login!: string | null;

  /** The scopes that the user has granted; while pending, those that the user is asked for. */
  @IsArray()
  @IsString({ each: true })
  scopes!: string[];

  /** What the user enters on the page; null unless pending. */
  @IsOptional()
  @IsString()
  userCode!: string | null;

  /** The page on which the user enters the code; null unless pending. */
  @IsOptional()
  @IsString()
  verificationUri!: string | null;

  /** When the code expires, in milliseconds since 1970; null unless pending. */
  @IsOptional()
  @IsInt()
  expiresAt!: number | null;

  /** Why the state is not `connected`, and what to do; null when there is nothing to do. */
  @IsOptional()
  @IsString()
  remedy!: string | null;

  /** Milliseconds since 1970. */
  @IsInt()
  createdAt!: number;

  @IsInt()
  updatedAt!: number;
}

export class ListConnectionsReply {
  /** Oldest first. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ConnectionMessage)
  connections!: ConnectionMessage[];
}

/** Lists all connections. */
export const listConnections = defineContract({
  subject: 'request.platform-connector.list-connections',
  request: EmptyRequest,
  reply: ListConnectionsReply,
  errors: [],
  timeoutMs: 5_000,
});

export class ConnectionRequest {
  @IsUUID('all')
  id!: string;
}

/** Returns one connection. */
export const getConnection = defineContract({
  subject: 'request.platform-connector.get-connection',
  request: ConnectionRequest,
  reply: ConnectionMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** Gets a code from the platform, with which a user gives consent. `conflict`: too many codes wait already. */
export const startConnection = defineContract({
  subject: 'request.platform-connector.start-connection',
  request: EmptyRequest,
  reply: ConnectionMessage,
  errors: ['conflict'],
  // The API promises a 503 within 5 s when the platform does not respond.
  timeoutMs: 4_500,
});

/** Removes a connection with its tokens, and revokes them on the platform. */
export const removeConnection = defineContract({
  subject: 'request.platform-connector.remove-connection',
  request: ConnectionRequest,
  reply: AcceptedReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

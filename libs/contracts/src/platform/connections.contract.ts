import { Type } from 'class-transformer';
import {
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  MaxLength,
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
 * To leave `reconnect_needed` or `expired`, start a new connection for the same user.
 */
export const connectionStates = ['pending', 'connected', 'reconnect_needed', 'expired'] as const;
export type ConnectionState = (typeof connectionStates)[number];

/** `channel`: the service stores the channel's events. `bot`: an account that reads and sends chat messages in all channels. */
export const connectionRoles = ['channel', 'bot'] as const;
export type ConnectionRole = (typeof connectionRoles)[number];

/** `device_code`: the user enters a code. `authorization_code`: the user's browser returns to the gateway. */
export const connectionFlows = ['device_code', 'authorization_code'] as const;
export type ConnectionFlow = (typeof connectionFlows)[number];

/** Gateway path to which browsers return from the platform. */
export const connectionCallbackPath = '/api/v1/platform/connections/callback';

/** A platform user who has given consent or was asked for it. */
export class ConnectionMessage {
  /** UUIDv7. */
  @IsUUID('all')
  id!: string;

  @IsIn(connectionStates)
  state!: ConnectionState;

  @IsIn(connectionRoles)
  role!: ConnectionRole;

  /** The user's id on the platform; null until the user gives consent. */
  @IsOptional()
  @IsString()
  userId!: string | null;

  /** The user's name in lowercase; null until the user gives consent. */
  @IsOptional()
  @IsString()
  login!: string | null;

  /** Scopes that the user has granted; until the user gives consent, the requested scopes. */
  @IsArray()
  @IsString({ each: true })
  scopes!: string[];

  /** Code to enter on the platform's page; null unless the connection waits for a device code. */
  @IsOptional()
  @IsString()
  userCode!: string | null;

  /**
   * URL of the page on which the user enters the code or gives consent; null unless pending. In the flow `authorization_code`, the URL
   * contains a secret, so only the reply to `startConnection` has it.
   */
  @IsOptional()
  @IsString()
  verificationUri!: string | null;

  /** When the user can no longer give consent, in milliseconds since 1970; null unless pending. */
  @IsOptional()
  @IsInt()
  expiresAt!: number | null;

  /** Why the connection does not work and what to do. Null if nothing is wrong, or if only the user's consent is missing. */
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

/** Without fields, this request connects a channel by device code. */
export class StartConnectionRequest {
  @IsOptional()
  @IsIn(connectionFlows)
  flow?: ConnectionFlow;

  @IsOptional()
  @IsIn(connectionRoles)
  role?: ConnectionRole;

  /** More scopes to request, for calls to the platform's API. The role's own scopes are always requested. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  scopes?: string[];

  /** The service's user who starts the connection. Required for `authorization_code`. */
  @IsOptional()
  @IsUUID('all')
  startedBy?: string;
}

/**
 * Asks a user for consent: requests a code from the platform, or builds the URL of its authorize page. `conflict`: too many connections are
 * pending, or the configuration does not permit the flow.
 */
export const startConnection = defineContract({
  subject: 'request.platform-connector.start-connection',
  request: StartConnectionRequest,
  reply: ConnectionMessage,
  errors: ['conflict'],
  // The API promises a 503 within 5 s if the platform does not respond.
  timeoutMs: 4_500,
});

/** `state` consists of the id of the service's user who started the connection, and a secret. */
export const connectionStatePattern = /^([0-9a-f-]{36})\.[\w-]{43}$/;

export class CompleteConnectionRequest {
  @Matches(connectionStatePattern)
  state!: string;

  /** The platform's authorization code; undefined if the user refused. */
  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  code?: string;
}

/**
 * Completes a connection when the user returns from the platform's authorize page. Each `state` works once. `not_found`: `state` is
 * invalid, used, or expired. `conflict`: the user or the platform refused.
 */
export const completeConnection = defineContract({
  subject: 'request.platform-connector.complete-connection',
  request: CompleteConnectionRequest,
  reply: ConnectionMessage,
  errors: ['not_found', 'conflict'],
  timeoutMs: 4_500,
});

/** Deletes a connection with its tokens, and tries once to revoke the access token on the platform. */
export const removeConnection = defineContract({
  subject: 'request.platform-connector.remove-connection',
  request: ConnectionRequest,
  reply: AcceptedReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

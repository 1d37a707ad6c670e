import { IsIn, IsInt, IsObject, IsOptional, IsString, IsUUID } from 'class-validator';
import { defineContract } from '../contract.js';

/** HTTP methods of the platform's API. */
export const callMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type CallMethod = (typeof callMethods)[number];

/**
 * Maximum size of a reply body. A NATS message is at most 1 MiB, and the body is sent as base64. The platform's largest replies, lists of
 * emotes, have about half this size.
 */
export const maxCallReplyBytes = 700 * 1024;

/** A client's call to the platform's API. */
export class CallPlatformRequest {
  @IsIn(callMethods)
  method!: CallMethod;

  /** Relative to the API's base URL, such as `chat/messages`. */
  @IsString()
  path!: string;

  /** The client's percent-encoded query, without `?` and without the parameter `connection`. */
  @IsString()
  query!: string;

  /** JSON text; null without a body. */
  @IsOptional()
  @IsString()
  body!: string | null;

  /** Connection whose user makes the call; null if the call itself determines the user. */
  @IsOptional()
  @IsUUID('all')
  connectionId!: string | null;
}

export class CallPlatformReply {
  @IsInt()
  status!: number;

  /** Headers for the client, with lowercase names. */
  @IsObject()
  headers!: Record<string, string>;

  /** The body's bytes as base64. */
  @IsString()
  body!: string;
}

/**
 * Calls the platform's API and returns the reply, whatever its status. Repeats the call only after a 401, with a new token.
 *
 * `invalid`: the call does not determine whose token to use, or `connectionId` is wrong. `forbidden`: the user has not granted the scope,
 * or the service does not permit the call. `conflict`: the connection has no valid token. `not_found`: the service does not support the
 * endpoint.
 */
export const callPlatform = defineContract({
  subject: 'request.platform-connector.call-platform',
  request: CallPlatformRequest,
  reply: CallPlatformReply,
  errors: ['invalid', 'forbidden', 'not_found', 'conflict'],
  // Longer than the connector's own limit for a call.
  timeoutMs: 11_000,
});

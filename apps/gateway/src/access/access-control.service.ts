import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { GatewayConfig } from '../gateway.config.js';
import { sendProblem, toServiceError } from '../http/problem.js';
import { gateOf } from '../http/request-gate.js';
import { RequestLog } from '../http/request-log.js';
import type { Access } from './allow-access.decorator.js';
import { callerOf, hasScope, isOwner, setCaller, type Caller } from './caller.js';
import { RateLimitError, RateLimits } from './rate-limits.service.js';
import { TokenLookup } from './token-lookup.service.js';
import { UserTurns } from './user-turns.service.js';

// Delay before a rate-limit error is sent. It keeps clients that retry immediately from occupying the gateway.
const rateRefusalMs = 1_000;

/** Resolves when the request may continue. Throws the error to send if the request is rejected. */
type Check = (access: Access, request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Checks who can use which route, and enforces the limits on requests. */
@Injectable()
export class AccessControl {
  constructor(
    private readonly tokens: TokenLookup,
    private readonly limits: RateLimits,
    private readonly turns: UserTurns,
    private readonly log: RequestLog,
    @Inject(CONFIG) private readonly config: Pick<GatewayConfig, 'REGISTRATION'>,
  ) {}

  /**
   * Admits or rejects each request before its body is read, so that a client without access cannot make the gateway wait for a body. Before
   * the handler runs, checks access again, unless the response stays open. `AccessGuard` rejects requests to routes without `AllowAccess`.
   */
  watch(fastify: FastifyInstance): void {
    gateOf(fastify.server).recognize = (authorization) => this.recognize(authorization);
    fastify.addHook(
      'onRequest',
      this.hook((access, request, reply) => this.admit(access, request, reply)),
    );
    fastify.addHook(
      'preHandler',
      this.hook((access, request) => this.checkAgain(access, request)),
    );
  }

  /** Wraps a check as a Fastify hook. The request continues if the check passes and the client is still connected. */
  private hook(check: Check): onRequestHookHandler {
    return (request, reply, done) => {
      const { access } = request.routeOptions.config;
      // Only controller routes declare who can use them. Preflights, API descriptions, and unknown paths are public.
      if (access === undefined) return done();
      check(access, request, reply).then(
        () => {
          if (!reply.raw.destroyed) done();
        },
        (thrown: unknown) => this.refuse(thrown, request, reply),
      );
    };
  }

  private refuse(thrown: unknown, { id, method, routeOptions }: FastifyRequest, reply: FastifyReply): void {
    // The client has disconnected.
    if (reply.raw.destroyed) return;
    const error = toServiceError(thrown);
    this.log.noteFailure(error, { id, method, route: routeOptions.url });
    void sendRefusal(reply, error);
  }

  /** Checks access again: the token or the user's rights may have changed while the body arrived or the request waited for its turn. */
  private async checkAgain(access: Access, request: FastifyRequest): Promise<void> {
    // Live connections and exports stay open. They check their tokens themselves, repeatedly.
    if (!callerOf(request) || request.routeOptions.config.staysOpen) return;
    setCaller(request, await this.decide(access, request.headers.authorization));
  }

  private async admit(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = await this.decide(access, request.headers.authorization);
    if (caller) await this.count(caller, request, reply);
    setCaller(request, caller);
  }

  /** Counts a request toward the rate limits of the user and the token, then waits for a turn (`UserTurns`). */
  private async count(caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { method, routeOptions } = request;
    const counted = { method, bodyBytes: bodyBytesOf(request) };
    this.limits.take(caller, counted, (headers) => void reply.headers(headers));
    // Responses that stay open have separate limits.
    if (routeOptions.config.staysOpen) return;
    const end = await this.turns.begin(caller);
    if (reply.raw.destroyed) end();
    else reply.raw.once('close', end);
  }

  /**
   * Returns the caller, or undefined if the route needs none. While registration is open, returns only owners there: their registrations
   * have no limit.
   *
   * @throws ServiceError `unauthenticated`, `forbidden`, or `unavailable`
   */
  async decide(access: Access, authorization: string | undefined): Promise<Caller | undefined> {
    if (access === 'public') return undefined;
    if (access === 'registration' && this.config.REGISTRATION === 'open')
      return this.findOwner(authorization);
    const caller = await this.authenticate(authorization);
    refuseWithoutRights(access, caller);
    return caller;
  }

  /** Whether a header contains a valid token. True if the token cannot be checked: the request's own check then reports the error. */
  private recognize(authorization: string | undefined): Promise<boolean> | undefined {
    const key = readToken(authorization);
    return key === undefined ? undefined : this.tokens.identify(key).then(Boolean, () => true);
  }

  /** Returns the caller if the token is an owner's. Any other token counts as no token. */
  private async findOwner(authorization: string | undefined): Promise<Caller | undefined> {
    const key = readToken(authorization);
    if (key === undefined) return undefined;
    try {
      const caller = await this.tokens.authenticate(key);
      return isOwner(caller) ? caller : undefined;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unauthenticated') return undefined;
      throw error;
    }
  }

  private async authenticate(authorization: string | undefined): Promise<Caller> {
    const key = readToken(authorization);
    if (key === undefined)
      throw new ServiceError(
        'unauthenticated',
        /^bearer\b/i.test(authorization ?? '')
          ? 'The word before the key must be Token instead of Bearer. Send the header Authorization: Token <key>.'
          : 'Authentication credentials were not provided. Send the header Authorization: Token <key>.',
      );
    return this.tokens.authenticate(key);
  }
}

/** The announced body size in bytes. 0 without a body, undefined for a chunked body. */
function bodyBytesOf({ headers }: FastifyRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/** Sends an error. Delays a rate-limit error until the next request can succeed. */
async function sendRefusal(reply: FastifyReply, error: ServiceError): Promise<void> {
  if (error instanceof RateLimitError) await wait(rateRefusalMs);
  if (!reply.raw.destroyed) sendProblem(reply, error);
}

/** @throws ServiceError `forbidden` */
export function refuseWithoutRights(
  access: Exclude<Access, 'public'>,
  { role, token }: Pick<Caller, 'role' | 'token'>,
): void {
  if (access === 'token') return;
  if (access === 'caller') {
    if (role !== 'owner')
      throw new ServiceError(
        'forbidden',
        'This call needs an owner’s token: the main token, a session, or a named token with the scope platform:call.',
      );
    if (token.kind === 'named') refuseWithoutRights(['platform:call'], { role, token });
    return;
  }
  if (typeof access !== 'string') {
    const missing = access.find((scope) => !hasScope(token, scope));
    if (missing !== undefined)
      throw new ServiceError('forbidden', `This token does not have the scope ${missing}.`);
    return;
  }
  if (token.kind === 'named')
    throw new ServiceError(
      'forbidden',
      'A named token cannot make this request. Use your main token or a session.',
    );
  if (access !== 'account' && role !== 'owner')
    throw new ServiceError('forbidden', 'This request needs an owner’s token.');
}

/** Reads the key from the header `Authorization: Token <key>`. `Token` is case-insensitive. Undefined for any other header. */
export function readToken(header: string | undefined): string | undefined {
  return /^token[ \t]+([^\s]+)[ \t]*$/i.exec(header ?? '')?.[1];
}

import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { CONFIG } from '@stream-events/service';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { GatewayConfig } from '../gateway.config.js';
import { sendProblem, toServiceError } from '../http/problem.js';
import { RequestLog } from '../http/request-log.js';
import type { Access } from './allow-access.decorator.js';
import { callerOf, setCaller, type Caller } from './caller.js';
import { RateLimitError, RateLimits } from './rate-limits.service.js';
import { TokenLookup } from './token-lookup.service.js';
import { UserTurns } from './user-turns.service.js';
import { WorkBudgets } from './work-budgets.service.js';

// The delay before a rate-limit refusal is sent. Without the delay, a client that retries immediately would keep the gateway busy.
const rateRefusalMs = 1_000;

/** Checks a request, or waits until the request may continue. Throws when the request is rejected. */
type Check = (access: Access, request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Decides who may use which route. */
@Injectable()
export class AccessControl {
  /** Functions that end the work for a request. */
  private readonly ends = new WeakMap<FastifyRequest, () => void>();

  constructor(
    private readonly tokens: TokenLookup,
    private readonly limits: RateLimits,
    private readonly turns: UserTurns,
    private readonly budgets: WorkBudgets,
    private readonly log: RequestLog,
    @Inject(CONFIG) private readonly config: Pick<GatewayConfig, 'REGISTRATION'>,
  ) {}

  /**
   * Admits or rejects each request before its body is read, so that a client without access cannot make the gateway wait for a body.
   * Decides again before the handler runs. `AccessGuard` rejects requests to routes without a declared access.
   */
  watch(fastify: FastifyInstance): void {
    fastify.addHook(
      'onRequest',
      this.hook((access, request, reply) => this.admit(access, request, reply)),
    );
    fastify.addHook(
      'preHandler',
      this.hook((access, request, reply) => this.beginWork(access, request, reply)),
    );
    fastify.addHook('onSend', (request, _reply, payload, done) => {
      this.ends.get(request)?.();
      done(null, payload);
    });
  }

  /** Returns a hook that lets a request continue if it passes the check and its client has not left. */
  private hook(check: Check): onRequestHookHandler {
    return (request, reply, done) => {
      const { access } = request.routeOptions.config;
      // Only the routes of controllers declare an access. Preflights, API descriptions, pages, and unknown paths have none.
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
    // The client has left.
    if (reply.raw.destroyed) return;
    const error = toServiceError(thrown);
    this.log.noteFailure(error, { id, method, route: routeOptions.url });
    void sendRefusal(reply, error);
  }

  /**
   * Charges the user's work budget for the time from the end of the request body until the response is ready or the client leaves. Decides
   * again after the last wait, because the token may have been revoked, or the user's rights changed, while the body arrived or the request
   * waited.
   */
  private async beginWork(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = callerOf(request);
    // Skip responses that stay open: live connections and exports check their tokens repeatedly.
    if (!caller || request.routeOptions.config.staysOpen) return;
    const leaving = new AbortController();
    reply.raw.once('close', () => leaving.abort());
    const end = await this.budgets.begin(caller, leaving.signal);
    this.ends.set(request, end);
    reply.raw.once('close', end);
    setCaller(request, await this.decide(access, request.headers.authorization));
  }

  private async admit(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = await this.decide(access, request.headers.authorization);
    if (caller) await this.count(caller, request, reply);
    setCaller(request, caller);
  }

  /** Counts a request toward the rate limits of its user, and waits for one of the user's turns. */
  private async count(caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { method, routeOptions } = request;
    const counted = { method, bodyBytes: bodyBytesOf(request) };
    this.limits.take(caller.id, counted, (headers) => void reply.headers(headers));
    // Responses that stay open have separate limits.
    if (routeOptions.config.staysOpen) return;
    const end = await this.turns.begin(caller.id);
    if (reply.raw.destroyed) end();
    else reply.raw.once('close', end);
  }

  /**
   * Returns the caller, or undefined on a public route.
   *
   * @throws ServiceError `unauthenticated`, `forbidden`, or `unavailable`
   */
  async decide(access: Access, authorization: string | undefined): Promise<Caller | undefined> {
    if (access === 'public' || (access === 'registration' && this.config.REGISTRATION === 'open'))
      return undefined;
    const caller = await this.authenticate(authorization);
    refuseWithoutRights(access, caller);
    return caller;
  }

  private async authenticate(authorization: string | undefined): Promise<Caller> {
    const key = readToken(authorization);
    if (key === undefined)
      throw new ServiceError(
        'unauthenticated',
        'Authentication credentials were not provided. Send the header Authorization: Token <key>.',
      );
    return this.tokens.authenticate(key);
  }
}

/** Returns the announced size of a body in bytes: 0 without a body, undefined for a chunked body of unknown size. */
function bodyBytesOf({ headers }: FastifyRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/** Responds with a refusal. Delays a rate-limit refusal until the next request can succeed. */
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
    if (token.kind !== 'named') return;
    const missing = access.find((scope) => !token.scopes.includes(scope));
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

/** Returns the key from an Authorization header of the form `Token <key>`; the case of `Token` does not matter. Otherwise undefined. */
export function readToken(header: string | undefined): string | undefined {
  return /^token[ \t]+([^\s]+)[ \t]*$/i.exec(header ?? '')?.[1];
}

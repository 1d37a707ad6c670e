import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { maxCallReplyBytes, type LookUpPriority } from '@stream-events/contracts';
import {
  PlatformCallError,
  PlatformUnavailableError,
  type PassedReply,
  type PlatformCall,
  type PlatformCaller,
  type PlatformEndpoint,
  type PlatformReply,
  type ReplyHead,
} from '@stream-events/platforms';
import { AppTokens } from './app-tokens.service.js';
import { CallSlots } from './call-slots.js';
import { PlatformHealth } from './platform-health.service.js';
import { isConnectError, PlatformHttp, type PlatformRequest } from './platform-http.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';
import type { Bucket } from './rate-budget.js';
import { RateBudgets } from './rate-budgets.service.js';
import { toUncertain } from './unavailable-error.js';
import {
  attemptTimeMs,
  callLimits,
  clientCallLimits,
  retryPauseMs,
  type CallLimits,
} from './retry-schedule.js';

// The platform replies within about 200 ms, so 8 concurrent calls make 40 calls/s, three times the rate limit. Two slots are reserved for
// interactive calls. At most 256 calls per priority wait, because an instance handles at most 256 concurrent requests of one kind.
const slots = { total: 8, background: 6, maxWaiting: 256 };

/** A call that a client makes. */
export interface ClientCall {
  method: PlatformRequest['method'];
  url: string;
  /** JSON text. */
  body?: string;
}

/** The token that a call uses. */
export interface TokenSource {
  /** The owner of the token; null for the application's own token. The platform counts each user's calls separately. */
  readonly userId: string | null;
  current(): Promise<string>;
  /** Returns another token after a 401. Returns null when the rejected token is still valid: the 401 has another cause. */
  replace(refused: string): Promise<string | null>;
}

/** The parts of a call that all its attempts share. */
interface Sending<Reply extends ReplyHead> {
  call: ClientCall & { endpoint: PlatformEndpoint; priority: LookUpPriority };
  limits: CallLimits;
  userId: string | null;
  deadline: number;
  exchange: (request: PlatformRequest, timeoutMs: number) => Promise<Reply>;
}

/**
 * Calls the platform's API. Each call waits for a slot and for the rate budget, and is retried after transient failures. The call's time
 * limit covers all of this.
 */
@Injectable()
export class PlatformClient implements PlatformCaller {
  private readonly slots = new CallSlots(slots);
  /** The token for calls that specify none. */
  private ownTokens: TokenSource;

  constructor(
    private readonly http: PlatformHttp,
    tokens: AppTokens,
    private readonly budgets: RateBudgets,
    private readonly health: PlatformHealth,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {
    this.ownTokens = tokens;
    this.health.measureQueue((priority) => this.slots.countWaiting(priority));
  }

  /** Sets the token for calls that specify none. Used when the application has no token of its own, because it has no client secret. */
  useTokens(tokens: TokenSource): void {
    this.ownTokens = tokens;
  }

  async call<T>(
    call: PlatformCall,
    read: (answer: PlatformReply, askedAt: number) => T,
    tokens = this.ownTokens,
  ): Promise<T> {
    const limits = callLimits[call.endpoint];
    return this.inSlot(call.priority, limits, async (deadline) => {
      const exchange = this.http.send.bind(this.http);
      const sending = { call, limits, userId: tokens.userId, deadline, exchange };
      const { answer, askedAt } = await this.tryCall(sending, tokens);
      return this.health.noting(call.endpoint, () => read(answer, askedAt));
    });
  }

  /**
   * Makes a call for a client and returns the reply, whatever its status. Does not retry, except once with another token after a 401. Runs
   * at background priority, so that clients leave part of the rate budget to the service's own look-ups.
   *
   * @throws PlatformUnavailableError, or the error of `tokens`; ServiceError with `isUncertain` when the platform may have carried out a call
   * other than GET
   */
  async pass(clientCall: ClientCall, tokens: TokenSource): Promise<PassedReply> {
    const call = { ...clientCall, endpoint: 'client_call', priority: 'background' } as const;
    const sent = { isUncertain: false };
    const exchange = async (request: PlatformRequest, timeoutMs: number): Promise<PassedReply> => {
      sent.isUncertain = call.method !== 'GET';
      try {
        const reply = await this.http.pass(request, timeoutMs);
        if (reply.status >= 300 && reply.status < 500) sent.isUncertain = false;
        return reply;
      } catch (error) {
        if (isConnectError(error)) sent.isUncertain = false;
        throw error;
      }
    };
    try {
      return await this.inSlot(call.priority, clientCallLimits, async (deadline) => {
        const { userId } = tokens;
        const sending = { call, limits: clientCallLimits, userId, deadline, exchange };
        const token = await tokens.current();
        const reply = await this.sendForClient(sending, token);
        const other = reply.status === 401 ? await tokens.replace(token) : null;
        return other === null ? reply : await this.sendForClient(sending, other);
      });
    } catch (error) {
      throw sent.isUncertain && error instanceof PlatformUnavailableError ? toUncertain(error) : error;
    }
  }

  /**
   * @throws PlatformCallError also when the reply is too large for NATS, or contains the token. The platform never echoes the token, but a
   * proxy might
   */
  private async sendForClient(sending: Sending<PassedReply>, token: string): Promise<PassedReply> {
    const { answer } = await this.send(sending, token);
    if (answer.bytes.length > maxCallReplyBytes) {
      const limit = `${maxCallReplyBytes / 1024} KiB`;
      const advice = sending.call.method === 'GET' ? ' Request a smaller page with `first`.' : '';
      throw new PlatformCallError('too_large', `The platform sent a reply larger than ${limit}.${advice}`);
    }
    if (!answer.bytes.includes(token)) return answer;
    throw new PlatformCallError('malformed', 'The platform sent a reply that contains the access token.');
  }

  /** Runs `work` in a slot, and passes the call's deadline to `work`, in milliseconds by `performance.now()`. */
  private async inSlot<T>(
    priority: LookUpPriority,
    { totalMs }: CallLimits,
    work: (deadline: number) => Promise<T>,
  ): Promise<T> {
    return withinLimit(this.occupySlot(priority, performance.now() + totalMs, work), totalMs);
  }

  private async occupySlot<T>(
    priority: LookUpPriority,
    deadline: number,
    work: (deadline: number) => Promise<T>,
  ): Promise<T> {
    this.health.checkCircuit();
    const slot = await this.slots.acquire(priority, deadline - performance.now());
    if (slot.kind !== 'free')
      throw new PlatformUnavailableError('Too many calls to the platform are waiting.', 2);
    try {
      return await work(deadline);
    } finally {
      slot.release();
    }
  }

  private async tryCall(sending: Sending<PlatformReply>, tokens: TokenSource): Promise<Asked<PlatformReply>> {
    const { limits, deadline } = sending;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(sending, tokens);
      } catch (error) {
        const pauseMs = retryPauseMs(attempt, Math.random());
        const isLast =
          attempt >= limits.attempts ||
          attemptTimeMs(limits, deadline - performance.now() - pauseMs) === undefined;
        if (isLast || !(error instanceof PlatformCallError && error.isTransient)) throw error;
        await wait(pauseMs);
      }
    }
  }

  /** Makes a call, and repeats it once with another token after a 401. A valid token can be revoked at any time. */
  private async attempt(sending: Sending<PlatformReply>, tokens: TokenSource): Promise<Asked<PlatformReply>> {
    const { endpoint } = sending.call;
    this.health.checkCircuit();
    const token = await tokens.current();
    let asked = await this.send(sending, token);
    const other = asked.answer.status === 401 ? await tokens.replace(token) : null;
    if (other !== null) asked = await this.send(sending, other);
    if (asked.rateLimit) throw asked.rateLimit;
    if (asked.answer.status !== 401) return asked;
    const error = new PlatformUnavailableError(
      'The platform rejected an access token that should be valid.',
      60,
    );
    this.health.noteError('the platform rejected an access token that should be valid', error, { endpoint });
    throw error;
  }

  private async send<Reply extends ReplyHead>(sending: Sending<Reply>, token: string): Promise<Asked<Reply>> {
    const { call, limits, deadline, exchange } = sending;
    const bucket = await this.takeFromBudget(sending);
    const timeoutMs = attemptTimeMs(limits, deadline - performance.now());
    if (timeoutMs === undefined) throw tooLate();
    const { endpoint, method, url, body } = call;
    const headers = {
      ...this.settings.definition.protocol.authorize(token, this.settings.credentials?.clientId ?? ''),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const askedAt = Date.now();
    const answer = await exchange(
      { endpoint, method, url, headers, ...(body !== undefined && { body }) },
      timeoutMs,
    );
    return { answer, askedAt, rateLimit: await this.followRateLimit(sending, bucket, answer) };
  }

  private async takeFromBudget({ call, limits, userId, deadline }: Sending<ReplyHead>): Promise<Bucket> {
    for (;;) {
      const taking = await this.budgets.take(call.priority, userId);
      if (taking.isTaken) return taking.bucket;
      const { waitMs } = taking;
      if (attemptTimeMs(limits, deadline - performance.now() - waitMs) === undefined) {
        const message = 'The platform’s rate limit is used up.';
        throw new PlatformUnavailableError(message, Math.ceil(waitMs / 1_000));
      }
      await wait(waitMs);
    }
  }

  /** Applies the rate limit that the reply reports. Returns an error when the platform rejected the call because of the limit. */
  private async followRateLimit(
    { call, userId }: Sending<ReplyHead>,
    bucket: Bucket,
    answer: ReplyHead,
  ): Promise<PlatformUnavailableError | undefined> {
    const { protocol } = this.settings.definition;
    const report = protocol.readRateLimit(answer);
    if (report) {
      // Use the reply even if the report cannot be saved. The next reply reports the rate limit again.
      await this.budgets.correct(bucket, report, userId).catch((error: unknown) => {
        this.health.warn(
          'cannot save the rate limit report of the platform, the next reply reports the limit again',
          { err: error },
        );
      });
    }
    if (!protocol.isRateLimited(answer)) return undefined;
    const resetMs = protocol.readResetMs(answer);
    await this.budgets.block(resetMs, userId);
    const message = 'The platform rejected the call because of its rate limit.';
    const error = new PlatformUnavailableError(message, Math.max(1, Math.ceil(resetMs / 1_000)));
    this.health.noteError('platform rate limit reached', error, { endpoint: call.endpoint });
    return error;
  }
}

interface Asked<Reply> {
  answer: Reply;
  askedAt: number;
  rateLimit: PlatformUnavailableError | undefined;
}

function tooLate(): PlatformUnavailableError {
  return new PlatformUnavailableError('The platform did not reply in time.', 5);
}

/** Stops waiting for `work` after `limitMs`. The work itself keeps its slot until its own timeouts end it. */
async function withinLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooLate()), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

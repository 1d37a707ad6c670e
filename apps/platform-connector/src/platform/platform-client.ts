import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  PlatformCallError,
  PlatformUnavailableError,
  type PlatformCall,
  type PlatformCaller,
  type PlatformReply,
} from '@stream-events/platforms';
import { AppTokens } from './app-tokens.service.js';
import { CallSlots } from './call-slots.js';
import { PlatformHealth } from './platform-health.service.js';
import { PlatformHttp } from './platform-http.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';
import type { Bucket } from './rate-budget.js';
import { RateBudgets } from './rate-budgets.service.js';
import { attemptTimeMs, callLimits, retryPauseMs } from './retry-schedule.js';

// The platform replies within about 200 ms, so 8 concurrent calls are 40 calls/s, three times its rate limit. Two slots are
// reserved for interactive calls. An instance handles up to 256 requests of one kind at a time, so at most that many calls wait.
const slots = { total: 8, background: 6, maxWaiting: 256 };

/**
 * Calls the platform's API. Each call takes a slot, a call from the rate budget, and a token, and is retried after transient
 * failures, all within the call's time limit.
 */
@Injectable()
export class PlatformClient implements PlatformCaller {
  private readonly slots = new CallSlots(slots);

  constructor(
    private readonly http: PlatformHttp,
    private readonly tokens: AppTokens,
    private readonly budgets: RateBudgets,
    private readonly health: PlatformHealth,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  async call<T>(call: PlatformCall, read: (answer: PlatformReply, askedAt: number) => T): Promise<T> {
    const { totalMs } = callLimits[call.endpoint];
    return withinLimit(this.callInSlot(call, read, performance.now() + totalMs), totalMs);
  }

  private async callInSlot<T>(
    call: PlatformCall,
    read: (answer: PlatformReply, askedAt: number) => T,
    deadline: number,
  ): Promise<T> {
    this.health.checkCircuit();
    const slot = await this.slots.acquire(call.priority, deadline - performance.now());
    if (slot.kind !== 'free')
      throw new PlatformUnavailableError('Too many calls to the platform are waiting.', 2);
    try {
      const { answer, askedAt } = await this.tryCall(call, deadline);
      return this.health.noting(call.endpoint, () => read(answer, askedAt));
    } finally {
      slot.release();
    }
  }

  private async tryCall(call: PlatformCall, deadline: number): Promise<Asked> {
    const limits = callLimits[call.endpoint];
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(call, deadline);
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

  /** Repeats the call once with another token after a 401, because a valid token can be revoked at any time. */
  private async attempt(call: PlatformCall, deadline: number): Promise<Asked> {
    this.health.checkCircuit();
    const token = await this.tokens.current();
    const asked = await this.send(call, token, deadline);
    if (asked.answer.status !== 401) return asked;
    const again = await this.send(call, await this.tokens.replace(token), deadline);
    if (again.answer.status !== 401) return again;
    const error = new PlatformUnavailableError('The platform rejected a token that it had just issued.', 60);
    this.health.noteError('the platform rejected a new access token', error, { endpoint: call.endpoint });
    throw error;
  }

  private async send(call: PlatformCall, token: string, deadline: number): Promise<Asked> {
    const bucket = await this.takeFromBudget(call, deadline);
    const timeoutMs = attemptTimeMs(callLimits[call.endpoint], deadline - performance.now());
    if (timeoutMs === undefined) throw tooLate();
    const { endpoint, method, url, body } = call;
    const headers = {
      ...this.settings.definition.protocol.authorize(token, this.settings.credentials?.clientId ?? ''),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const askedAt = Date.now();
    const answer = await this.http.send(
      { endpoint, method, url, headers, ...(body !== undefined && { body }) },
      timeoutMs,
    );
    await this.followRateLimit(call, bucket, answer);
    return { answer, askedAt };
  }

  private async takeFromBudget(call: PlatformCall, deadline: number): Promise<Bucket> {
    for (;;) {
      const taking = await this.budgets.take(call.priority);
      if (taking.isTaken) return taking.bucket;
      const { waitMs } = taking;
      if (attemptTimeMs(callLimits[call.endpoint], deadline - performance.now() - waitMs) === undefined) {
        const message = 'The platform’s rate limit is used up.';
        throw new PlatformUnavailableError(message, Math.ceil(waitMs / 1_000));
      }
      await wait(waitMs);
    }
  }

  private async followRateLimit(call: PlatformCall, bucket: Bucket, answer: PlatformReply): Promise<void> {
    const { protocol } = this.settings.definition;
    const report = protocol.readRateLimit(answer);
    if (report) {
      // Use the reply anyway. The next one reports the rate limit again.
      await this.budgets.correct(bucket, report).catch((error: unknown) => {
        this.health.warn('cannot save the rate limit report of the platform', { err: error });
      });
    }
    if (!protocol.isRateLimited(answer)) return;
    const resetMs = protocol.readResetMs(answer);
    await this.budgets.block(resetMs);
    const message = 'The platform rejected the call because of its rate limit.';
    const error = new PlatformUnavailableError(message, Math.max(1, Math.ceil(resetMs / 1_000)));
    this.health.noteError('platform rate limit reached', error, { endpoint: call.endpoint });
    throw error;
  }
}

interface Asked {
  answer: PlatformReply;
  askedAt: number;
}

function tooLate(): PlatformUnavailableError {
  return new PlatformUnavailableError('The platform did not reply in time.', 5);
}

/** Stops waiting after the limit. The work itself ends by its own timeouts and keeps its slot until then. */
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

import { Inject, Injectable, Optional } from '@nestjs/common';
import { CONFIG, pause } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import type { Caller } from './caller.js';

/** Limits on the work that a gateway does for one user with the role `user`. */
export interface WorkLimits {
  /** Maximum long-term share of time for one user's work, from 0 to 1. */
  share: number;
  /** Maximum burst of work after an idle period, in milliseconds. */
  burstMs: number;
  /** Maximum cost of one piece of work, in milliseconds. Protects users whose work waited during an outage. */
  maxCostMs: number;
  /** Maximum time that a piece of work waits, in milliseconds. */
  maxWaitMs: number;
}

export const workLimits: WorkLimits = { share: 0.1, burstMs: 1_000, maxCostMs: 500, maxWaitMs: 5_000 };

// The assumed cost of a user's first piece of work.
const firstCostMs = 10;
// The weight of the latest piece of work in the expected cost of the next one.
const latestWeight = 0.2;
const maxUsers = 10_000;

/** The remaining work time of a user. */
interface Budget {
  /** Refills continuously, up to `burstMs`. Negative after work that waited for the maximum time, or that took longer than expected. */
  leftMs: number;
  updatedAt: number;
  /** The expected cost of a piece of work. */
  expectedMs: number;
  /** The number of pieces of work that wait or run. Their expected cost counts toward the budget. */
  pending: number;
}

/**
 * Limits the time that a gateway works for each user, so that a client in a loop slows down only its own user. A piece of work is a
 * request, or a page of an export or a catch-up. The time in which a client sends a body or reads a response does not count. When the
 * services are busy, work takes longer, so each user gets less done. Owners have no limit. If RATE_LIMIT_REQUESTS is 0, nobody has a limit.
 */
@Injectable()
export class WorkBudgets {
  private readonly budgets = new Map<string, Budget>();
  private readonly isLimited: boolean;

  constructor(
    @Inject(CONFIG) { RATE_LIMIT_REQUESTS }: Pick<GatewayConfig, 'RATE_LIMIT_REQUESTS'>,
    @Optional() private readonly limits: WorkLimits = workLimits,
    @Optional() private readonly now: () => number = () => performance.now(),
  ) {
    this.isLimited = RATE_LIMIT_REQUESTS > 0;
  }

  /**
   * Waits until the user's budget permits a piece of work. Call the returned function when the work has ended; further calls have no
   * effect.
   *
   * @throws the signal's reason when the signal aborts
   */
  async begin({ id, role }: Pick<Caller, 'id' | 'role'>, signal: AbortSignal): Promise<() => void> {
    if (role === 'owner' || !this.isLimited) return () => undefined;
    const { share, maxWaitMs } = this.limits;
    const budget = this.find(id);
    this.refill(budget);
    budget.pending += 1;
    const waitMs = Math.min((budget.pending * budget.expectedMs - budget.leftMs) / share, maxWaitMs);
    if (waitMs > 0) await pause(waitMs, signal);
    if (signal.aborted) budget.pending -= 1;
    signal.throwIfAborted();
    const beganAt = this.now();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      budget.pending -= 1;
      this.charge(budget, this.now() - beganAt);
    };
  }

  private charge(budget: Budget, durationMs: number): void {
    const { share, maxCostMs, maxWaitMs } = this.limits;
    const costMs = Math.min(durationMs, maxCostMs);
    this.refill(budget);
    // No work waits longer than `maxWaitMs`. Without this bound, the debt would grow during an outage, and slow the user down long after it.
    budget.leftMs = Math.max(budget.leftMs - costMs, -share * maxWaitMs);
    budget.expectedMs += (costMs - budget.expectedMs) * latestWeight;
  }

  private find(userId: string): Budget {
    const known = this.budgets.get(userId);
    if (known) return known;
    if (this.budgets.size >= maxUsers) this.forgetFull();
    const budget: Budget = {
      leftMs: this.limits.burstMs,
      updatedAt: this.now(),
      expectedMs: firstCostMs,
      pending: 0,
    };
    this.budgets.set(userId, budget);
    return budget;
  }

  private refill(budget: Budget): void {
    const now = this.now();
    const { share, burstMs } = this.limits;
    budget.leftMs = Math.min(budget.leftMs + (now - budget.updatedAt) * share, burstMs);
    budget.updatedAt = now;
  }

  /** Removes users whose budgets are full again. */
  private forgetFull(): void {
    for (const [userId, budget] of this.budgets) {
      this.refill(budget);
      if (budget.pending === 0 && budget.leftMs === this.limits.burstMs) this.budgets.delete(userId);
    }
  }
}

import { Inject, Injectable, Optional } from '@nestjs/common';
import { CONFIG, pause } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { payersOf, type Caller, type Payer, type LimitedCaller } from './caller.js';

/** Limits on the work that a gateway does for one user. They do not apply to owners. */
export interface WorkLimits {
  /** Long-term maximum share of time for one user's work, from 0 to 1. */
  share: number;
  /** Maximum burst after an idle period, in milliseconds of work. */
  burstMs: number;
  /** Maximum charge for one piece of work, in milliseconds. Spares users whose work was slow only because of an outage. */
  maxCostMs: number;
  /** Maximum wait of a piece of work, in milliseconds. */
  maxWaitMs: number;
}

export const workLimits: WorkLimits = { share: 0.1, burstMs: 1_000, maxCostMs: 500, maxWaitMs: 5_000 };

// Assumed cost of a user's first piece of work.
const firstCostMs = 10;
// Weight of the latest piece of work in the moving average of a user's costs.
const latestWeight = 0.2;
const maxBudgets = 10_000;

interface Budget {
  /** The share of a user's budget: less than 1 for a named token. */
  readonly share: number;
  /** Remaining work time. Refills continuously up to `burstMs`. Negative after work that cost more than was left. */
  leftMs: number;
  updatedAt: number;
  /** Moving average of the cost per piece of work. */
  expectedMs: number;
  /** Pieces of work that wait or run. Their expected cost already counts. */
  pending: number;
}

/**
 * Limits the time that a gateway works for each user, so that a client in a loop slows down only its own user, and a client with a named
 * token only partly. A piece of work is a request, or one page of an export or a catch-up. Time in which the client sends a body or reads a
 * response is free. When the services are busy, work takes longer, so each user gets less done. Owners are exempt. RATE_LIMIT_REQUESTS=0
 * turns the limit off.
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
   * Waits until the user's budget allows a piece of work, but at most `maxWaitMs`. Call the returned function when the work has ended.
   * Calling it again has no effect.
   *
   * @throws the signal's reason when the signal aborts
   */
  async begin(caller: LimitedCaller & Pick<Caller, 'role'>, signal: AbortSignal): Promise<() => void> {
    if (caller.role === 'owner' || !this.isLimited) return () => undefined;
    const budgets = payersOf(caller).map((payer) => this.find(payer));
    for (const budget of budgets) budget.pending += 1;
    const waitMs = Math.max(...budgets.map((budget) => this.waitMsOf(budget)));
    if (waitMs > 0) await pause(waitMs, signal);
    if (signal.aborted) for (const budget of budgets) budget.pending -= 1;
    signal.throwIfAborted();
    const beganAt = this.now();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const budget of budgets) {
        budget.pending -= 1;
        this.charge(budget, this.now() - beganAt);
      }
    };
  }

  private waitMsOf(budget: Budget): number {
    this.refill(budget);
    const missingMs = budget.pending * budget.expectedMs - budget.leftMs;
    return Math.min(missingMs / this.shareOf(budget), this.limits.maxWaitMs);
  }

  private shareOf(budget: Budget): number {
    return this.limits.share * budget.share;
  }

  private charge(budget: Budget, durationMs: number): void {
    const { maxCostMs, maxWaitMs } = this.limits;
    const costMs = Math.min(durationMs, maxCostMs);
    this.refill(budget);
    // Limit the debt to the work time that refills within `maxWaitMs`. Otherwise, debt from an outage would slow the user down long after
    // the outage.
    budget.leftMs = Math.max(budget.leftMs - costMs, -this.shareOf(budget) * maxWaitMs);
    budget.expectedMs += (costMs - budget.expectedMs) * latestWeight;
  }

  private find({ id, share }: Payer): Budget {
    const known = this.budgets.get(id);
    if (known) return known;
    if (this.budgets.size >= maxBudgets) this.forgetFull();
    const budget: Budget = {
      share,
      leftMs: this.limits.burstMs * share,
      updatedAt: this.now(),
      expectedMs: firstCostMs,
      pending: 0,
    };
    this.budgets.set(id, budget);
    return budget;
  }

  private refill(budget: Budget): void {
    const now = this.now();
    const refilledMs = budget.leftMs + (now - budget.updatedAt) * this.shareOf(budget);
    budget.leftMs = Math.min(refilledMs, this.limits.burstMs * budget.share);
    budget.updatedAt = now;
  }

  private forgetFull(): void {
    for (const [id, budget] of this.budgets) {
      this.refill(budget);
      const isFull = budget.leftMs === this.limits.burstMs * budget.share;
      if (budget.pending === 0 && isFull) this.budgets.delete(id);
    }
  }
}

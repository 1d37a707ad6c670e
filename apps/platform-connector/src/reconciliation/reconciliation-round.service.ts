import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { v7 } from 'uuid';
import { PlatformUnavailableError } from '@stream-events/platforms';
import { DesiredSubscriptionsService } from './desired-subscriptions.service.js';
import { PlanExecution, type Execution } from './plan-execution.service.js';
import { PlatformSubscriptions, type PlatformListing } from './platform-subscriptions.js';
import {
  ReconciliationSchedule,
  type Claim,
  type RoundEnd,
} from '../subscriptions/reconciliation-schedule.repository.js';
import { planSubscriptions } from './subscription-plan.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';
import type { WantedSubscription } from './wanted-subscriptions.js';

/** What a round did and when the next one shall be. */
export interface Round {
  end: RoundEnd;
  tally: Record<string, number>;
  /** The neighbour that did not answer. */
  problem: ServiceError | PlatformUnavailableError | null;
}

const roundIntervalMs = 60_000;
// A streamer monitor that restarts is back in seconds.
const monitorPauseMs = 5_000;
const maxPlatformPauseMs = 60_000;
// When the platform counts otherwise than we do, or did not answer, its list says how it is; and only its list shows strays that are left.
const relistMs = 30_000;
// Verification takes the platform about a second.
const minListingPauseMs = 2_000;
// One call for a hundred that are there: a list of 10,000 once a minute is an eighth of the rate limit.
const listingPauseMsPerSubscription = 6;

/** One reconciliation: what is wanted against what is there. */
@Injectable()
export class ReconciliationRound {
  constructor(
    private readonly desired: DesiredSubscriptionsService,
    private readonly platform: PlatformSubscriptions,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly reconciliation: ReconciliationSchedule,
    private readonly execution: PlanExecution,
  ) {}

  /** @throws when the database fails, or the signal has ended it before anything was done on the platform */
  async run(claim: Claim, signal: AbortSignal): Promise<Round> {
    const startedAt = performance.now();
    const clock = (): number => claim.now + Math.floor(performance.now() - startedAt);
    try {
      const { monitored, wanted } = await this.desired.read(signal);
      await this.reconciliation.noteMonitored(claim.holder, monitored);
      if (wanted) return await this.reconcile(wanted, claim, { signal, clock });
      await this.subscriptions.removeAll();
      return { end: endOfRound({ isComplete: true }), tally: {}, problem: null };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // Without knowing who is monitored nothing may be deleted: everything stays as it is.
      return { end: endOfRound({ dueInMs: monitorPauseMs }), tally: {}, problem: error };
    }
  }

  private async reconcile(
    wanted: readonly WantedSubscription[],
    claim: Claim,
    context: { signal: AbortSignal; clock: () => number },
  ): Promise<Round> {
    const startedAt = context.clock();
    const listed = claim.isListingDue ? await this.list(context.signal) : null;
    if (listed instanceof PlatformUnavailableError) {
      // What is wanted is shown as waiting meanwhile.
      await this.plan(wanted, claim, null, context.clock());
      const pauseMs = pauseOf(listed);
      const end = endOfRound({ dueInMs: pauseMs, listingNotBeforeMs: pauseMs });
      return { end, tally: {}, problem: listed };
    }
    const listing = listed && { startedAt, ...listed };
    const { plan, count } = await this.plan(wanted, claim, listing, context.clock());
    if (listing)
      await this.reconciliation.noteListing(claim.holder, {
        maxCost: listing.maxCost,
        foreignCost: plan.foreignCost,
      });
    const execution = await this.execution.run(plan.actions, context);
    const hasStrays = plan.actions.some((action) => action.kind === 'delete' && action.own === null);
    const end = endAfter(execution, { count, hasStrays });
    return { end, tally: execution.tally, problem: execution.unavailable };
  }

  private async list(signal: AbortSignal): Promise<PlatformListing | PlatformUnavailableError> {
    try {
      return await this.platform.list(signal);
    } catch (error) {
      if (error instanceof PlatformUnavailableError) return error;
      throw error;
    }
  }

  private async plan(
    wanted: readonly WantedSubscription[],
    { maxCost, foreignCost }: Claim,
    listing: (PlatformListing & { startedAt: number }) | null,
    now: number,
  ) {
    const own = await this.subscriptions.all();
    const plan = planSubscriptions({
      wanted,
      own,
      listing,
      maxCost: listing?.maxCost ?? maxCost,
      foreignCost,
      callback: this.platform.callback,
      now,
      newId: v7,
    });
    await this.subscriptions.apply(plan);
    return { plan, count: own.filter(({ subscriptionId }) => subscriptionId !== null).length };
  }
}

function endAfter(
  { tally, isComplete, failure, unavailable }: Execution,
  { count, hasStrays }: { count: number; hasStrays: boolean },
): RoundEnd {
  const error = unavailable ?? failure;
  const pauseMs = error ? pauseOf(error) : 0;
  // What was deleted has made room, or is to be made anew.
  const hasMore = !isComplete || 'delete done' in tally;
  const isRelisted =
    'create limit_reached' in tally || 'create failed' in tally || (hasStrays && !isComplete);
  return endOfRound({
    isComplete: !hasMore,
    dueInMs: hasMore ? pauseMs : roundIntervalMs,
    listingNotBeforeMs: pauseMs,
    minListingPauseMs: Math.max(minListingPauseMs, count * listingPauseMsPerSubscription),
    ...(isRelisted && { listingInMs: relistMs }),
    ...('create exists' in tally && { listingInMs: 0 }),
  });
}

function endOfRound(end: Partial<RoundEnd>): RoundEnd {
  return { dueInMs: roundIntervalMs, listingNotBeforeMs: 0, minListingPauseMs, isComplete: false, ...end };
}

function pauseOf({ retryAfterSeconds }: PlatformUnavailableError): number {
  return Math.min(Math.max(retryAfterSeconds * 1_000, 1_000), maxPlatformPauseMs);
}

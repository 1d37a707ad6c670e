import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { v7 } from 'uuid';
import { PlatformUnavailableError } from '@stream-events/platforms';
import { DesiredSubscriptionsService } from './desired-subscriptions.service.js';
import { PlanExecution, type Execution } from './plan-execution.service.js';
import { PlatformSubscriptions, type PlatformListing } from './platform-subscriptions.js';
import {
  ReconciliationSchedule,
  type ReconciliationClaim,
  type RoundEnd,
} from '../subscriptions/reconciliation-schedule.repository.js';
import { MovesLog } from './moves-log.service.js';
import { confirmDeletions, planSubscriptions, type Plan } from './subscription-plan.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';
import { OwnTransportsReader } from '../subscriptions/own-transports.js';
import type { WantedSubscription } from './wanted-subscriptions.js';

export interface Round {
  end: RoundEnd;
  tally: Record<string, number>;
  /** Why the platform or the streamer monitor was unavailable; null when both replied. */
  problem: ServiceError | PlatformUnavailableError | null;
}

const roundIntervalMs = 60_000;
// How long to pause when the streamer monitor does not reply. A restart of the monitor normally takes seconds.
const monitorPauseMs = 5_000;
const maxPlatformPauseMs = 60_000;
// How long to wait for the next listing when a creation failed, the platform's limit was reached unexpectedly, or strays remain. Only a
// listing shows the outcome.
const relistMs = 30_000;
// The shortest time between listings while subscriptions wait for verification. The platform verifies a callback within about a second.
const minListingPauseMs = 2_000;
// How long to wait for the next listing while subscriptions move, because each step of a move needs a listing. A stuck move lists this often
// too, so the pause is longer than the shortest one.
const moveStepMs = 4_000;
// The minimum pause between listings, per subscription. One call lists 100 subscriptions, so listing 10,000 of them once a minute takes an
// eighth of the rate limit.
const listingPauseMsPerSubscription = 6;

/** Runs one round: compares the wanted subscriptions with the platform's, and creates and deletes subscriptions accordingly. */
@Injectable()
export class ReconciliationRound {
  /**
   * See `confirmDeletions`. Each instance needs two listings of its own, so a restart or a change of the instance only delays deletions.
   */
  private suspects: ReadonlySet<string> = new Set();

  constructor(
    private readonly desired: DesiredSubscriptionsService,
    private readonly platform: PlatformSubscriptions,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
    private readonly execution: PlanExecution,
    private readonly transports: OwnTransportsReader,
    private readonly movesLog: MovesLog,
  ) {}

  /** @throws when the database fails, or the signal aborts before any action on the platform */
  async run(claim: ReconciliationClaim, signal: AbortSignal): Promise<Round> {
    const startedAt = performance.now();
    const clock = (): number => claim.now + Math.floor(performance.now() - startedAt);
    try {
      const { monitored, wanted } = await this.desired.read(signal);
      await this.schedule.saveMonitored(claim.holder, monitored);
      if (wanted) return await this.reconcile(wanted, claim, { signal, clock });
      await this.subscriptions.removeAll();
      return { end: endOfRound({ isComplete: true }), tally: {}, problem: null };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // Without the list of monitored streamers, it is unknown which subscriptions are wanted, so keep them all.
      return { end: endOfRound({ dueInMs: monitorPauseMs }), tally: {}, problem: error };
    }
  }

  private async reconcile(
    wanted: readonly WantedSubscription[],
    claim: ReconciliationClaim,
    context: { signal: AbortSignal; clock: () => number },
  ): Promise<Round> {
    const startedAt = context.clock();
    const listed = claim.isListingDue ? await this.list(context.signal) : null;
    if (listed instanceof PlatformUnavailableError) {
      // Save the newly wanted subscriptions, so that the API shows them as waiting until they are created.
      await this.plan(wanted, claim, null, context.clock());
      const pauseMs = pauseOf(listed);
      const end = endOfRound({ dueInMs: pauseMs, listingNotBeforeMs: pauseMs });
      return { end, tally: {}, problem: listed };
    }
    const listing = listed && { startedAt, ...listed };
    const { plan, count, isCurrent } = await this.plan(wanted, claim, listing, context.clock());
    if (listing)
      await this.schedule.saveListing(claim.holder, {
        maxCost: listing.maxCost,
        foreignCost: plan.foreignCost,
      });
    const { confirmed, suspected } = confirmDeletions(plan.actions, listing && this.suspects);
    if (listing) this.suspects = new Set(suspected);
    const execution = await this.execution.run(confirmed, context);
    if (listing && isCurrent) await this.transports.retire(listing.subscriptions);
    const hasStrays = confirmed.some((action) => action.kind === 'delete' && action.own === null);
    // An instance that may not move subscriptions leaves the next listing to one that may.
    const hasMoves = listing !== null && (!plan.moves || plan.moves.moved < plan.moves.total);
    const hasDoubts = confirmed.length < plan.actions.length;
    const end = endAfter(execution, { count, hasStrays, hasMoves, hasDoubts, isPartial: plan.isPartial });
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
    { maxCost, foreignCost }: ReconciliationClaim,
    listing: (PlatformListing & { startedAt: number }) | null,
    now: number,
  ): Promise<{ plan: Plan; count: number; isCurrent: boolean }> {
    const own = await this.subscriptions.all();
    const transports = await this.transports.read();
    // Only an instance with the newest transport and secrets may move subscriptions to them.
    const isCurrent = transports?.isCurrent ?? false;
    const transportOf = await this.transports.chooserForNew();
    const mayMove = isCurrent && transportOf !== null && (await this.transports.isWorking());
    const plan = planSubscriptions({
      wanted,
      own,
      listing,
      maxCost: listing?.maxCost ?? maxCost,
      foreignCost,
      kindOf: (transport) => transports?.own.kindOf(transport),
      sharesLimit: (transport) => transports?.own.sharesLimit(transport) ?? true,
      canCreate: (condition) => transportOf?.(condition) != null,
      mayMove,
      now,
      newId: v7,
    });
    await this.subscriptions.apply(plan);
    if (plan.moves && transports) this.movesLog.report(plan.moves, transports.method);
    const count = own.filter(({ subscriptionId }) => subscriptionId !== null).length;
    return { plan, count, isCurrent };
  }
}

/** What decides, in addition to the execution, when the next round and the next listing are due. */
interface ExecutionFacts {
  count: number;
  hasStrays: boolean;
  hasMoves: boolean;
  /** Whether deletions wait for a second listing. */
  hasDoubts: boolean;
  isPartial: boolean;
}

function endAfter(
  { tally, isComplete, failure, unavailable }: Execution,
  { count, hasStrays, hasMoves, hasDoubts, isPartial }: ExecutionFacts,
): RoundEnd {
  const error = unavailable ?? failure;
  const pauseMs = error ? pauseOf(error) : 0;
  // A deletion calls for another round: it made room for another subscription, or the deleted subscription must be recreated.
  const hasMore = !isComplete || isPartial || 'delete done' in tally;
  const isRelisted =
    'create limit_reached' in tally || 'create failed' in tally || (hasStrays && !isComplete);
  const minPauseMs = Math.max(minListingPauseMs, count * listingPauseMsPerSubscription);
  return endOfRound({
    isComplete: !hasMore && !hasDoubts,
    dueInMs: hasMore ? pauseMs : roundIntervalMs,
    listingNotBeforeMs: pauseMs,
    minListingPauseMs: minPauseMs,
    ...(hasMoves && { listingInMs: Math.max(moveStepMs, minPauseMs) }),
    ...(isRelisted && !hasMoves && { listingInMs: relistMs }),
    ...(hasDoubts && { listingInMs: minPauseMs }),
    ...('create exists' in tally && { listingInMs: 0 }),
  });
}

function endOfRound(end: Partial<RoundEnd>): RoundEnd {
  return { dueInMs: roundIntervalMs, listingNotBeforeMs: 0, minListingPauseMs, isComplete: false, ...end };
}

function pauseOf({ retryAfterSeconds }: PlatformUnavailableError): number {
  return Math.min(Math.max(retryAfterSeconds * 1_000, 1_000), maxPlatformPauseMs);
}

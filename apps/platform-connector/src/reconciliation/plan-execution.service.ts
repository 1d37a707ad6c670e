import { Injectable } from '@nestjs/common';
import { PlatformCallError, PlatformUnavailableError } from '@stream-events/platforms';
import {
  alreadyExists,
  denied,
  limitReached,
  observed,
  putOff,
  refused,
  turnedDown,
  type OwnSubscription,
} from '../subscriptions/own-subscription.js';
import { PlatformSubscriptions } from './platform-subscriptions.js';
import { SubscriptionMetrics, type ActionResult } from '../subscriptions/subscription-metrics.js';
import type { Action } from './subscription-plan.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';

export interface ExecutionContext {
  /** When aborted, ends the execution after the calls in flight. */
  signal: AbortSignal;
  /** Returns milliseconds since 1970, by the database's clock. */
  clock: () => number;
}

export interface Execution {
  /** The number of actions by kind and result, such as `{"create done": 4}`. */
  tally: Record<string, number>;
  /** Whether no action is left and no deletion failed. Failed creations do not count, because they have their own retry times. */
  isComplete: boolean;
  /** The latest failure of a single call. */
  failure: PlatformCallError | null;
  /** Why the execution ended early; null when the platform was available. */
  unavailable: PlatformUnavailableError | null;
}

// Maximum number of concurrent calls. A call takes about 100 ms, so with four at a time, only the rate limit slows the execution down.
const concurrency = 4;
// The maximum duration of an execution. The next round plans the remaining actions again, because other subscriptions may be wanted by
// then.
const maxDurationMs = 15_000;
// How many failed calls of one kind end an execution. A single bad subscription must not delay the others, but 20 failures mean that the
// platform is down.
const maxFailures = 20;

// The HTTP status that means that consent is missing (FACTS.md §4.5).
const missingConsent = 403;
const consentRemedy = 'Connect or reconnect the channel with POST /api/v1/platform/connections.';

/** Executes a plan on the platform. Saves each result immediately, so a crash loses only the results of calls in flight. */
@Injectable()
export class PlanExecution {
  constructor(
    private readonly platform: PlatformSubscriptions,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly metrics: SubscriptionMetrics,
  ) {}

  /** @throws when the database fails */
  async run(actions: readonly Action[], context: ExecutionContext): Promise<Execution> {
    const queue = alternate(actions);
    const execution: Execution = { tally: {}, isComplete: false, failure: null, unavailable: null };
    const deadline = performance.now() + maxDurationMs;
    const failures: unknown[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let action = queue[next]; action; action = queue[next]) {
        if (context.signal.aborted || performance.now() > deadline) return;
        if (failures.length > 0 || execution.unavailable) return;
        next += 1;
        await this.tryAction(action, execution, context).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    if (failures.length > 0) throw failures[0];
    execution.isComplete =
      next === queue.length && execution.unavailable === null && !('delete failed' in execution.tally);
    return execution;
  }

  private async tryAction(action: Action, execution: Execution, { clock }: ExecutionContext): Promise<void> {
    const { tally } = execution;
    const kind = action.kind === 'delete' ? 'delete' : 'create';
    // Once the limit is reached, create only free subscriptions.
    if (action.kind !== 'delete' && action.cost > 0 && 'create limit_reached' in tally) return;
    const note = (result: ActionResult): void => {
      this.metrics.increment(kind, result);
      const name = `${kind} ${result}`;
      tally[name] = (tally[name] ?? 0) + 1;
    };
    try {
      note(await this.execute(action, clock));
    } catch (error) {
      if (!(error instanceof PlatformUnavailableError)) throw error;
      const isAlone = error instanceof PlatformCallError;
      note(isAlone ? 'failed' : 'unavailable');
      if (!isAlone || (tally[`${kind} failed`] ?? 0) >= maxFailures) execution.unavailable = error;
      if (!isAlone) return;
      execution.failure = error;
      const subscription = action.kind === 'create' ? 'subscription' : 'second subscription';
      const reason = `Cannot create the ${subscription}, retrying later: ${error.message}`;
      if (action.kind !== 'delete') await this.putOff(action.own, reason, clock());
    }
  }

  private execute(action: Action, clock: () => number): Promise<ActionResult> {
    switch (action.kind) {
      case 'create':
        return this.create(action.own, clock);
      case 'create_second':
        return this.createSecond(action.own, clock);
      case 'delete':
        return this.delete(action);
    }
  }

  private async createSecond(own: OwnSubscription, clock: () => number): Promise<ActionResult> {
    const outcome = await this.platform.create(own);
    if (outcome.kind === 'created') return 'done';
    if (outcome.kind === 'exists') return 'exists';
    await this.putOff(own, `The platform rejected the second subscription: ${outcome.message}`, clock());
    return outcome.kind;
  }

  private async putOff(own: OwnSubscription, reason: string, now: number): Promise<void> {
    await this.subscriptions.save({ before: own, after: putOff(own, { reason, now }) });
  }

  private async create(own: OwnSubscription, clock: () => number): Promise<ActionResult> {
    const outcome = await this.platform.create(own);
    const now = clock();
    switch (outcome.kind) {
      case 'created':
        await this.subscriptions.save({ before: own, after: observed(own, outcome.subscription, now) });
        return 'done';
      case 'exists':
        await this.subscriptions.save({ before: own, after: alreadyExists(own, now) });
        return 'exists';
      case 'limit_reached': {
        const reason = `The platform’s subscription limit is reached: ${outcome.message}`;
        await this.subscriptions.save({ before: own, after: turnedDown(own, limitReached, { reason, now }) });
        return 'limit_reached';
      }
      case 'refused': {
        const reason = `The platform refused the subscription (HTTP ${outcome.status}): ${outcome.message}`;
        const after =
          outcome.status === missingConsent
            ? denied(own, { reason: `${reason}. ${consentRemedy}`, now })
            : turnedDown(own, refused, { reason, now });
        await this.subscriptions.save({ before: own, after });
        return 'refused';
      }
    }
  }

  private async delete({ subscriptionId, own, after }: Action & { kind: 'delete' }): Promise<ActionResult> {
    await this.platform.delete(subscriptionId);
    if (own && after) await this.subscriptions.save({ before: own, after });
    else if (own) await this.subscriptions.remove(own);
    return 'done';
  }
}

/**
 * Alternates deletions and creations, so that a thousand deletions do not delay the first creation, nor a thousand creations the first
 * deletion.
 */
function alternate(actions: readonly Action[]): Action[] {
  const deletions = actions.filter(({ kind }) => kind === 'delete');
  const creations = actions.filter(({ kind }) => kind !== 'delete');
  return Array.from({ length: Math.max(deletions.length, creations.length) }).flatMap((_, index) =>
    [deletions[index], creations[index]].filter((action) => action !== undefined),
  );
}

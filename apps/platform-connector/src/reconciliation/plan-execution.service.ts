import { Injectable } from '@nestjs/common';
import { PlatformCallError, PlatformUnavailableError } from '@stream-events/platforms';
import {
  alreadyThere,
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

/** What an execution works with. */
export interface ExecutionContext {
  /** Ends it after the calls that are in flight. */
  signal: AbortSignal;
  /** Milliseconds since 1970, by the database's clock. */
  clock: () => number;
}

/** How far an execution came. */
export interface Execution {
  /** How often what came of it: `{"create done": 4}`. */
  tally: Record<string, number>;
  /** Whether all of the plan was tried, and what failed has a time of its own to be tried again. */
  isComplete: boolean;
  /** The latest call that failed while others did not. */
  failure: PlatformCallError | null;
  /** Why it ended early; null when the platform answered. */
  unavailable: PlatformUnavailableError | null;
}

// As many as the platform answers side by side without its rate limit being the bound: a call takes about 100 ms.
const concurrency = 4;
// What is wanted changes while a long plan is carried out: then the rest is planned anew.
const maxDurationMs = 15_000;
// A call may fail for what it is about, and must not keep the others waiting; so many say that it is not about that.
const maxFailures = 20;

/** Carries a plan out on the platform, and writes down each step as it is done: a crash loses nothing but what is in flight. */
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
    // The platform has said that it is full: what costs nothing still fits.
    if (action.kind === 'create' && action.cost > 0 && 'create limit_reached' in tally) return;
    const note = (result: ActionResult): void => {
      this.metrics.note(action.kind, result);
      const name = `${action.kind} ${result}`;
      tally[name] = (tally[name] ?? 0) + 1;
    };
    try {
      note(action.kind === 'create' ? await this.create(action.own, clock) : await this.delete(action));
    } catch (error) {
      if (!(error instanceof PlatformUnavailableError)) throw error;
      const isAlone = error instanceof PlatformCallError;
      note(isAlone ? 'failed' : 'unavailable');
      if (!isAlone || (tally[`${action.kind} failed`] ?? 0) >= maxFailures) execution.unavailable = error;
      if (!isAlone) return;
      execution.failure = error;
      if (action.kind === 'create') await this.putOff(action.own, error, clock());
    }
  }

  private async putOff(own: OwnSubscription, { message }: Error, now: number): Promise<void> {
    await this.subscriptions.save({ before: own, after: putOff(own, { message, now }) });
  }

  private async create(own: OwnSubscription, clock: () => number): Promise<ActionResult> {
    const outcome = await this.platform.create(own);
    const now = clock();
    switch (outcome.kind) {
      case 'created':
        await this.subscriptions.save({ before: own, after: observed(own, outcome.subscription, now) });
        return 'done';
      case 'exists':
        await this.subscriptions.save({ before: own, after: alreadyThere(own, now) });
        return 'exists';
      case 'limit_reached': {
        const reason = `The platform has no room for it: ${outcome.message}`;
        await this.subscriptions.save({ before: own, after: turnedDown(own, limitReached, { reason, now }) });
        return 'limit_reached';
      }
      case 'refused': {
        const reason = `The platform refuses it (${outcome.status}): ${outcome.message}`;
        await this.subscriptions.save({ before: own, after: turnedDown(own, refused, { reason, now }) });
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

/** Deletions and creations in turn: a thousand of the one must not keep a single one of the other waiting. */
function alternate(actions: readonly Action[]): Action[] {
  const deletions = actions.filter(({ kind }) => kind === 'delete');
  const creations = actions.filter(({ kind }) => kind === 'create');
  return Array.from({ length: Math.max(deletions.length, creations.length) }).flatMap((_, index) =>
    [deletions[index], creations[index]].filter((action) => action !== undefined),
  );
}

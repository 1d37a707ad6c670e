import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { within } from '@stream-events/messaging';
import { FailureLog, LOGGER, type Logger, pause } from '@stream-events/service';
import { Lease } from './lease.js';
import { ReconciliationRound, type Round } from './reconciliation-round.service.js';
import {
  ReconciliationSchedule,
  type Claim,
  type RoundEnd,
} from '../subscriptions/reconciliation-schedule.repository.js';

// How soon a hint is followed, by any instance; and so often at most: a hundred hints in that time are one round.
const pollIntervalMs = 500;
const failurePauseMs = 5_000;
// A call of the platform that is in flight then is cut; the next round finds out what became of it.
const stopLimitMs = 5_000;

const afterFailure: RoundEnd = {
  dueInMs: failurePauseMs,
  listingNotBeforeMs: failurePauseMs,
  minListingPauseMs: failurePauseMs,
  isComplete: false,
};
const afterInterruption: RoundEnd = { ...afterFailure, dueInMs: 0, listingNotBeforeMs: 0 };

/**
 * Makes the subscriptions on the platform what they should be, one instance at a time.
 *
 * ```
 *         every 60 s · hint · revocation · more to do                 nothing left: in 60 s
 *  idle ───────────────────────────────────────▶ round of one instance ──────────────────▶ idle
 *   ▲                                              │         │ neighbour away: in 1 s … 60 s
 *   └──── any other instance, within 10 s ─────────┘◀────────┘
 *                dead, or cut off from the database
 * ```
 *
 * Two that believe it is their turn do no harm: the platform has one subscription of each kind, and what a row has become is not
 * written over.
 */
@Injectable()
export class Reconciler {
  private readonly stopping = new AbortController();
  private readonly failureLog: FailureLog;
  private running: Promise<void> = Promise.resolve();
  private lastProblem: string | undefined;

  constructor(
    private readonly reconciliation: ReconciliationSchedule,
    private readonly round: ReconciliationRound,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
  }

  /** Begins; the first round asks the platform for all it has. */
  async start(): Promise<void> {
    await this.reconciliation.requestListing();
    this.running = this.run();
  }

  /** Ends the round in progress after the calls that are in flight (for 5 s at most); another instance goes on. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the service stops'));
    await within(stopLimitMs, this.running);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const claim = await this.reconciliation.claim(randomUUID());
        if (claim) await this.hold(claim);
      } catch (error) {
        this.failureLog.warn('subscriptions could not be reconciled: tried again in a moment', {
          err: error,
        });
      }
      await pause(pollIntervalMs, signal);
    }
  }

  private async hold(claim: Claim): Promise<void> {
    const { holder } = claim;
    const lease = new Lease(() => this.reconciliation.renew(holder));
    const signal = AbortSignal.any([this.stopping.signal, lease.lost]);
    try {
      const round = await this.round.run(claim, signal);
      this.report(round);
      await this.reconciliation.release(holder, signal.aborted ? afterInterruption : round.end);
    } catch (error) {
      await this.reconciliation.release(holder, signal.aborted ? afterInterruption : afterFailure);
      if (!signal.aborted) throw error;
    } finally {
      lease.end();
    }
  }

  /** One line for a round that did something; one when a neighbour fails, however long it lasts, and one when it is back. */
  private report({ tally, problem }: Round): void {
    if (Object.keys(tally).length > 0) this.logger.info({ actions: tally }, 'subscriptions reconciled');
    const name = problem?.name;
    if (name === this.lastProblem) return;
    if (problem) {
      this.failureLog.warn('subscriptions stay as they are for now: tried again until it works', {
        err: problem,
      });
      if (this.failureLog.isStarting) return;
    }
    this.lastProblem = name;
    if (!problem) this.logger.info('subscriptions are reconciled again');
  }
}

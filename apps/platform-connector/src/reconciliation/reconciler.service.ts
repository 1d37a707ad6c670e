import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Lease } from '@stream-events/database';
import { FailureLog, LOGGER, type Logger, pause, within } from '@stream-events/service';
import { ConduitUpkeep } from '../conduits/conduit-upkeep.service.js';
import { ReconciliationRound, type Round } from './reconciliation-round.service.js';
import {
  ReconciliationSchedule,
  roundLease,
  type ReconciliationClaim,
  type RoundEnd,
} from '../subscriptions/reconciliation-schedule.repository.js';
import { OwnTransportsReader } from '../subscriptions/own-transports.js';

// How often each instance checks whether a round is due. Hints within this time share one round.
const pollIntervalMs = 500;
// How long an instance with an older configuration leaves a due round to other instances. An instance with the newest transport and secrets
// takes it within one poll interval, and only such an instance can move subscriptions.
const notCurrentWaitMs = 2_000;
const failurePauseMs = 5_000;
// How long to wait for calls to the platform that are in flight. If a call is cut off, the next round finds out its result.
const stopLimitMs = 5_000;

const afterFailure: RoundEnd = {
  dueInMs: failurePauseMs,
  listingNotBeforeMs: failurePauseMs,
  minListingPauseMs: failurePauseMs,
  isComplete: false,
};
const afterInterruption: RoundEnd = { ...afterFailure, dueInMs: 0, listingNotBeforeMs: 0 };

/**
 * Makes the subscriptions on the platform match the wanted ones. One instance at a time holds the lease and runs a round.
 *
 * ```
 * a round ends because                       │ the next round is due
 * nothing is left to do                      │ in 60 s, or at once after a hint or a revocation
 * more actions are left                      │ at once
 * the platform or the monitor is unavailable │ in 1 s … 60 s
 * its instance died or lost the database     │ on any other instance, within 11 s
 * ```
 *
 * An instance with an older transport or older secrets takes a round only if no instance with the newest configuration takes it in time.
 *
 * Two instances that both believe they hold the lease do no harm. The platform allows only one subscription per type, condition, and
 * transport, and a row is updated only if its status and platform id are unchanged.
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
    private readonly transports: OwnTransportsReader,
    private readonly conduits: ConduitUpkeep,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
  }

  async start(): Promise<void> {
    await this.transports.declare();
    this.conduits.events.on('created', () => void this.onConduitCreated());
    await this.reconciliation.startOver();
    this.running = this.run();
  }

  /** Stops the current round after the calls in flight, for which it waits up to 5 s. Another instance continues the work. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the service is stopping'));
    await within(stopLimitMs, this.running);
  }

  /** Starts over after the conduit was created, because subscriptions are waiting for the conduit. */
  private async onConduitCreated(): Promise<void> {
    try {
      await this.reconciliation.startOver();
    } catch (error) {
      this.failureLog.warn(
        'cannot request a listing of the subscriptions, the next scheduled listing follows within 5 min',
        {
          err: error,
        },
      );
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const waitMs = (await this.transports.isCurrent()) ? 0 : notCurrentWaitMs;
        const claim = await this.reconciliation.claim(randomUUID(), waitMs);
        if (claim) await this.hold(claim);
      } catch (error) {
        this.failureLog.warn('cannot reconcile subscriptions, retrying within 5 s', {
          err: error,
        });
      }
      await pause(pollIntervalMs, signal);
    }
  }

  private async hold(claim: ReconciliationClaim): Promise<void> {
    const { holder } = claim;
    const lease = new Lease(roundLease.seconds, () => this.reconciliation.renew(holder));
    const signal = AbortSignal.any([this.stopping.signal, lease.lost]);
    try {
      const round = await this.round.run(claim, signal);
      this.report(round);
      await this.reconciliation.release(holder, signal.aborted ? afterInterruption : round.end);
    } catch (error) {
      const due = signal.aborted ? afterInterruption : afterFailure;
      // If the release fails too, the lease simply expires.
      await this.reconciliation.release(holder, due).catch(() => undefined);
      if (!this.stopping.signal.aborted) throw error;
    } finally {
      lease.end();
    }
    if (!this.stopping.signal.aborted) lease.lost.throwIfAborted();
  }

  /**
   * Logs each round that changed anything, and the beginning and the end of each outage of the platform or the streamer monitor.
   */
  private report({ tally, problem }: Round): void {
    if (Object.keys(tally).length > 0) this.logger.info({ actions: tally }, 'subscriptions reconciled');
    const name = problem?.name;
    if (name === this.lastProblem) return;
    if (problem) {
      this.failureLog.warn(
        'platform or streamer monitor unavailable, keeping subscriptions as they are, retrying within 60 s',
        {
          err: problem,
        },
      );
      if (this.failureLog.isStarting) return;
    }
    this.lastProblem = name;
    if (!problem)
      this.logger.info('platform and streamer monitor are available again, reconciling subscriptions');
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { lookUpStreams, maxLookUp } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { FailureLog, LOGGER, readForGauge, Registry, WorkerLoop, type Logger } from '@stream-events/service';
import { ClaimsRepository, type Claim } from './claims.repository.js';
import { PollRecorder } from './poll-recorder.service.js';
import { monitorMetrics } from '../metrics.js';

// How many batches an instance polls at a time: it looks up one while it records the other.
const batchesInFlight = 2;
// How long a loop pauses after a batch that was not full. A streamer that becomes due during the pause waits that long at most.
const idleMs = 500;
// The longest pause after failures. Polling resumes within this time after an outage.
const maxBackoffMs = 15_000;

/**
 * Asks the platform which of the due streamers are live, up to 100 per call. `poll-interval.ts` determines when a streamer is due.
 *
 * ```
 *  fewer than 100 due: wait 0.5 s
 *       ▼                   ┌──── look-up failed: due at once, wait 0.5 s, 1 s … 15 s ────┐
 *       │                   ▼                                                             │
 *    claim up to 100 ──▶ claimed for 30 s ──▶ look up ──reply──▶ record ──▶ due in 45 s; in 25.5 s to confirm a miss;
 *                           │ instance died, or database unavailable        in 2, 4, 8 … s while a new stream is not listed
 *                           └──▶ due again when the claim expires
 * ```
 */
@Injectable()
export class Poller {
  private readonly loops: WorkerLoop[];
  private readonly counts: ReturnType<typeof countPolls>;
  private isInPass = false;

  constructor(
    private readonly claims: ClaimsRepository,
    private readonly client: RequestClient,
    private readonly recorder: PollRecorder,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    this.counts = countPolls(metrics);
    const failureLog = new FailureLog(logger);
    measureStreamers(claims, failureLog, metrics);
    const onFailure = (err: unknown): void =>
      failureLog.warn('cannot poll streamers, retrying within 15 s', { err });
    // A batch of fewer than 100 usually contains all due streamers. Pause before the next one to limit the rate of calls for small batches.
    const work = async (): Promise<boolean> => (await this.pollBatch()) === maxLookUp;
    this.loops = Array.from(
      { length: batchesInFlight },
      () => new WorkerLoop({ work, idleMs, maxBackoffMs, onFailure }),
    );
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** Waits up to 5 s for the batches in flight. The streamers of a slower batch are due again when their claim expires. */
  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  /** Polls one batch, and returns how many streamers it claimed; 0 ends the polling pass. */
  async pollBatch(): Promise<number> {
    const claim = await this.claims.claimPolls();
    const count = claim.streamers.length;
    if (count === 0) {
      if (this.isInPass) this.counts.passesTotal.inc();
      this.isInPass = false;
      return 0;
    }
    this.isInPass = true;
    this.counts.claimedTotal.inc(count);
    try {
      await this.poll(claim);
      this.counts.batchesTotal.inc({ outcome: 'done' });
    } catch (error) {
      this.counts.batchesTotal.inc({ outcome: 'failed' });
      throw error;
    }
    return count;
  }

  private async poll(claim: Claim): Promise<void> {
    const reply = await this.lookUp(claim);
    this.counts.missesTotal.inc(Math.max(0, claim.streamers.length - reply.streams.length));
    this.counts.changesTotal.inc(await this.recorder.record(claim, reply));
  }

  private async lookUp(claim: Claim) {
    try {
      const userIds = claim.streamers.map(({ platformId }) => platformId);
      return await this.client.request(lookUpStreams, { userIds });
    } catch (error) {
      // If this fails too, the streamers are due when the claim expires.
      await this.claims.releasePolls(claim).catch(() => undefined);
      throw error;
    }
  }
}

function countPolls(metrics: Registry) {
  return {
    batchesTotal: monitorMetrics.streamer_monitor_poll_batches_total.create(metrics),
    claimedTotal: monitorMetrics.streamer_monitor_polls_claimed_total.create(metrics),
    missesTotal: monitorMetrics.streamer_monitor_polls_absent_total.create(metrics),
    changesTotal: monitorMetrics.streamer_monitor_polls_changed_total.create(metrics),
    passesTotal: monitorMetrics.streamer_monitor_polling_passes_total.create(metrics),
  };
}

function measureStreamers(claims: ClaimsRepository, failureLog: FailureLog, metrics: Registry): void {
  monitorMetrics.streamer_monitor_poll_lag_seconds.create(metrics, async (gauge) => {
    const seconds = await readForGauge(gauge, failureLog, () => claims.measureLag());
    gauge.set(seconds ?? Number.NaN);
  });
  monitorMetrics.streamer_monitor_streams_running.create(metrics, async (gauge) => {
    const count = await readForGauge(gauge, failureLog, () => claims.countRunning());
    gauge.set(count ?? Number.NaN);
  });
}

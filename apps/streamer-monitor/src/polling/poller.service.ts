import { Inject, Injectable } from '@nestjs/common';
import { lookUpStreams, maxLookUp } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import {
  Counter,
  FailureLog,
  Gauge,
  LOGGER,
  Registry,
  WorkerLoop,
  within,
  type Logger,
} from '@stream-events/service';
import { ClaimsRepository, type Claim } from './claims.repository.js';
import { PollRecorder } from './poll-recorder.service.js';

// One batch is looked up on the platform while the other one is recorded. More instances poll more batches.
const batchesInFlight = 2;
// The longest that a due streamer goes unnoticed.
const idleMs = 500;
// After an outage, polling resumes within this time.
const maxBackoffMs = 15_000;
const stopLimitMs = 5_000;

/**
 * Polls: asks the platform which of the due streamers are live, up to 100 per call. `poll-interval.ts` defines when a streamer is
 * due.
 *
 * ```
 *  fewer than 100 due: wait 0.5 s
 *       ▼                   ┌──── look-up failed: due at once, wait 0.5 s, 1 s … 15 s ────┐
 *       │                   ▼                                                             │
 *    claim up to 100 ──▶ claimed for 30 s ──▶ look up ──reply──▶ record ──▶ due in 45 s; in 25 s to confirm a miss;
 *                           │ instance died, or database unavailable        in 2, 4, 8 … s while a new stream is not listed
 *                           └──▶ due again when the claim expires
 * ```
 */
@Injectable()
export class Poller {
  private readonly loops: WorkerLoop[];
  private readonly batchesTotal: Counter;
  private readonly claimedTotal: Counter;
  private readonly missesTotal: Counter;
  private readonly changesTotal: Counter;
  private readonly passesTotal: Counter;
  private isInPass = false;

  constructor(
    private readonly claims: ClaimsRepository,
    private readonly client: RequestClient,
    private readonly recorder: PollRecorder,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    const count = (name: string, help: string, labelNames: string[] = []): Counter =>
      new Counter({ name: `streamer_monitor_${name}_total`, help, labelNames, registers: [metrics] });
    this.batchesTotal = count('poll_batches', 'Look-ups of up to 100 streamers on the platform, by outcome', [
      'outcome',
    ]);
    this.claimedTotal = count('polls_claimed', 'Streamers claimed for polling');
    this.missesTotal = count('polls_absent', 'Polls that did not find the streamer live');
    this.changesTotal = count('polls_changed', 'Polls that changed something and were recorded one by one');
    this.passesTotal = count(
      'polling_passes',
      'Polling passes of this instance: times that it polled until no streamer was due',
    );
    measureStreamers(claims, metrics);
    const failureLog = new FailureLog(logger);
    const onFailure = (err: unknown): void =>
      failureLog.warn('cannot poll streamers, retrying within 15 s', { err });
    // A batch that is not full took every streamer that was due. Waiting limits how often small batches call the platform.
    const work = async (): Promise<boolean> => (await this.pollBatch()) === maxLookUp;
    this.loops = Array.from(
      { length: batchesInFlight },
      () => new WorkerLoop({ work, idleMs, maxBackoffMs, onFailure }),
    );
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** Stops after the batches in flight, waiting up to 5 s. The claim of a batch that takes longer expires. */
  async stop(): Promise<void> {
    await within(stopLimitMs, Promise.all(this.loops.map((loop) => loop.stop())));
  }

  /** Polls one batch. Returns the number of due streamers; 0 ends the polling pass. */
  async pollBatch(): Promise<number> {
    const claim = await this.claims.claimPolls();
    const count = claim.streamers.length;
    if (count === 0) {
      if (this.isInPass) this.passesTotal.inc();
      this.isInPass = false;
      return 0;
    }
    this.isInPass = true;
    this.claimedTotal.inc(count);
    try {
      await this.poll(claim);
      this.batchesTotal.inc({ outcome: 'done' });
    } catch (error) {
      this.batchesTotal.inc({ outcome: 'failed' });
      throw error;
    }
    return count;
  }

  private async poll(claim: Claim): Promise<void> {
    const reply = await this.lookUp(claim);
    this.missesTotal.inc(Math.max(0, claim.streamers.length - reply.streams.length));
    this.changesTotal.inc(await this.recorder.record(claim, reply));
  }

  private async lookUp(claim: Claim) {
    try {
      const userIds = claim.streamers.map(({ platformId }) => platformId);
      return await this.client.request(lookUpStreams, { userIds });
    } catch (error) {
      // If this fails too, the streamers become due when the claim expires.
      await this.claims.releasePolls(claim).catch(() => undefined);
      throw error;
    }
  }
}

/** Measures how late polling is and how many streams are running. Reports NaN while the database is unavailable. */
function measureStreamers(claims: ClaimsRepository, metrics: Registry): void {
  new Gauge({
    name: 'streamer_monitor_poll_lag_seconds',
    help: 'Seconds that the most overdue streamer has been waiting for a poll; every instance reports the same value',
    registers: [metrics],
    async collect() {
      this.set(await claims.measureLag().catch(() => Number.NaN));
    },
  });
  new Gauge({
    name: 'streamer_monitor_streams_running',
    help: 'Running streams; every instance reports the same value',
    registers: [metrics],
    async collect() {
      this.set(await claims.countRunning().catch(() => Number.NaN));
    },
  });
}

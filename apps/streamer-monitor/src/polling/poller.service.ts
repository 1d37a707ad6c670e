import { Inject, Injectable } from '@nestjs/common';
import { lookUpStreams, maxLookUp } from '@stream-events/contracts';
import { RequestClient, within } from '@stream-events/messaging';
import {
  Counter,
  FailureLog,
  Gauge,
  LOGGER,
  Registry,
  WorkerLoop,
  type Logger,
} from '@stream-events/service';
import { ClaimsRepository, type Claim } from './claims.repository.js';
import { PollRecorder } from './poll-recorder.service.js';

// While one batch is at the platform, another one is written down. More instances have more.
const batchesInFlight = 2;
// How late a streamer that becomes due is noticed.
const idleMs = 500;
// With everything due again after an outage, a sweep begins within this time.
const maxBackoffMs = 15_000;
const stopLimitMs = 5_000;

/**
 * Asks the platform who is live: of what becomes due, a batch at a time.
 *
 * ```
 *  nobody due: 0.5 s        ┌──── look-up failed: due at once, wait 0.5 s, 1 s … 15 s ────┐
 *       ▼                   ▼                                                             │
 *    claim up to 100 ──▶ claimed for 30 s ──▶ look up ──answer──▶ write down ──▶ due in 45 s, or in 25 s to confirm a miss
 *                           │ died, or the database is away
 *                           └──▶ due again when the claim has run out
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
    this.batchesTotal = count('poll_batches', 'Calls of the platform for up to 100 streamers, by outcome', [
      'outcome',
    ]);
    this.claimedTotal = count('polls_claimed', 'Streamers that were claimed to be polled');
    this.missesTotal = count('polls_absent', 'Streamers that a poll did not find live');
    this.changesTotal = count('polls_changed', 'Polls that said something new, and were written down alone');
    this.passesTotal = count(
      'polling_passes',
      'Polling passes of this instance: times that it polled until no streamer was due',
    );
    measureStreamers(claims, metrics);
    const failureLog = new FailureLog(logger);
    const onFailure = (err: unknown): void =>
      failureLog.warn('streamers could not be polled: they stay due, and it is tried again', { err });
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

  /** Finishes the batches in flight, for 5 s at most: the claim of what takes longer runs out. */
  async stop(): Promise<void> {
    await within(stopLimitMs, Promise.all(this.loops.map((loop) => loop.stop())));
  }

  /** Polls one batch. Returns how many streamers were due; 0 ends the polling pass. */
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
      // Should this fail as well, the claim runs out.
      await this.claims.releasePolls(claim).catch(() => undefined);
      throw error;
    }
  }
}

/** Says how late polling is and how many streams run; nothing while the database is away. */
function measureStreamers(claims: ClaimsRepository, metrics: Registry): void {
  new Gauge({
    name: 'streamer_monitor_poll_lag_seconds',
    help: 'For how long the streamer that is overdue most has waited to be polled; every instance tells the same number',
    registers: [metrics],
    async collect() {
      this.set(await claims.measureLag().catch(() => Number.NaN));
    },
  });
  new Gauge({
    name: 'streamer_monitor_streams_running',
    help: 'Streams that are running; every instance tells the same number',
    registers: [metrics],
    async collect() {
      this.set(await claims.countRunning().catch(() => Number.NaN));
    },
  });
}

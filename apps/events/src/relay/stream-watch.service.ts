import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type ConnectionWatch, StreamPublisher } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { DoubtfulStateError, EventsStream, ForeignStreamError } from './events-stream.js';
import { StreamCheck, type Witness } from './stream-check.service.js';

/**
 * The stream while it is trusted. Each time a doubt ends, a new object replaces the old one, even for the same epoch. An acknowledgement
 * from before the doubt does not prove that the stream still holds the batch.
 */
export interface TrustedStream {
  readonly epoch: string;
}

export interface Acknowledgement {
  trusted: TrustedStream;
  eventIds: readonly string[];
  lastSequence: number;
  /**
   * The highest acknowledged sequence when the batch was sent. New messages get higher sequences, so a lower one means a loss or a repeat.
   */
  sentAfter: number;
}

// How often to check the stream while it is trusted, and while it is in doubt.
const checkIntervalMs = 5_000;
const doubtIntervalMs = 1_000;
// How long the start waits for the first check, which normally takes milliseconds. After that, the service starts anyway and stores events.
const startLimitMs = 5_000;

/**
 * Decides when the relay may trust the EVENTS stream, and under which epoch.
 *
 * ```
 *             ┌──────────── check: intact, or repaired ────────────────┐
 *             │                                                        ▼
 *         in doubt ◀── connection lost · stream not responding ─── trusted
 *  checked on reconnect,      · stream of another platform      checked every 5 s, and when a
 *  and every second;          · stream whose state may be old   sequence is lower than an earlier one
 *  nothing is published
 * ```
 *
 * While in doubt, publishing could reuse the sequences of lost events and so hide the loss.
 */
@Injectable()
export class StreamWatch {
  private current: TrustedStream | undefined;
  /** The acknowledged batch of this instance with the highest sequence. */
  private highest: Witness | undefined;
  /** `highest` as of the last check. This batch reveals a loss even when new messages have since reused the lost sequences. */
  private earlier: Witness | undefined;
  /** Counts the doubts. A check that began before the latest doubt must not end it. */
  private doubts = 0;
  private connection: ConnectionWatch | undefined;
  private isStopped = false;
  /** Whether the stream has the configuration of this instance. */
  private isPrepared = false;
  private isCheckDue = false;
  /** When the last check began, by a monotonic clock, so that a change of the system time does not delay checks. */
  private lastCheckAt = Number.NEGATIVE_INFINITY;
  private lastFailure: string | undefined;
  private running: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly stream: EventsStream,
    private readonly streamCheck: StreamCheck,
    private readonly publisher: StreamPublisher,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Undefined while the stream is in doubt. Publish nothing while it is undefined. */
  get trusted(): TrustedStream | undefined {
    return this.current;
  }

  /** The highest sequence that the stream has acknowledged to this instance. */
  get highestSequence(): number {
    return this.highest?.lastSequence ?? 0;
  }

  /**
   * Creates or updates the stream, then watches it. Waits up to 5 s for the first check. A repair after a large loss takes longer and
   * continues in the background; until it is complete, nothing is published.
   *
   * @throws ForeignStreamError
   * @throws when the broker or the database does not respond, or the broker has no room for the stream
   */
  async start(): Promise<void> {
    this.connection = this.stream.watchConnection({
      onLost: () => this.doubt('the connection to NATS is lost'),
      onBack: () => this.checkInBackground(),
    });
    const checking = this.check();
    this.runInBackground(checking);
    // If the reported state may be outdated, start in doubt: store events, but publish nothing.
    const checked = checking.catch((error: unknown) => {
      if (!(error instanceof DoubtfulStateError)) throw error;
    });
    await Promise.race([checked, wait(startLimitMs, undefined, { ref: false })]);
    this.timer = setInterval(() => this.onTick(), doubtIntervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  /** Stops publishing until a check succeeds. Call this when the stream does not respond. */
  suspect(): void {
    this.doubt('the stream does not respond');
    this.checkSoon();
  }

  /** Records an acknowledgement. Checks the stream soon if `lastSequence` is below `sentAfter`. */
  noteAcknowledged({ trusted, eventIds, lastSequence, sentAfter }: Acknowledgement): void {
    if (trusted !== this.current) return;
    if (lastSequence > this.highestSequence) this.highest = { epoch: trusted.epoch, lastSequence, eventIds };
    // The condition also holds for an empty or repeated batch. The check then finds the stream intact.
    else if (lastSequence < sentAfter) this.checkSoon();
  }

  /**
   * Checks the stream now. Trusts it if the check succeeds and no doubt arose during the check.
   *
   * @throws ForeignStreamError
   * @throws DoubtfulStateError when the stream's reported state may be outdated
   * @throws when the broker or the database does not respond
   */
  async check(): Promise<void> {
    this.lastCheckAt = performance.now();
    this.isCheckDue = false;
    const doubts = this.doubts;
    const highest = this.highest;
    const witnesses = [this.earlier, highest].filter((witness) => witness !== undefined);
    const epoch = this.isPrepared
      ? await this.streamCheck.run(witnesses)
      : await this.streamCheck.prepare(witnesses);
    this.isPrepared = true;
    this.earlier = highest;
    if (doubts === this.doubts) this.trust(epoch);
  }

  private onTick(): void {
    const interval = this.current && !this.isCheckDue ? checkIntervalMs : doubtIntervalMs;
    if (performance.now() >= this.lastCheckAt + interval) this.checkInBackground();
  }

  /** Checks at once, or when a second has passed since the last check began. */
  private checkSoon(): void {
    this.isCheckDue = true;
    this.onTick();
  }

  private checkInBackground(): void {
    // Without a connection, a check would only time out.
    if (this.isStopped || this.connection?.isConnected === false || this.running) return;
    this.runInBackground(this.check());
  }

  private runInBackground(check: Promise<void>): void {
    this.running = check
      .catch((error: unknown) => this.onCheckFailed(error))
      .finally(() => {
        this.running = undefined;
      });
  }

  private onCheckFailed(error: unknown): void {
    if (error instanceof ForeignStreamError) this.doubt('the stream belongs to another platform');
    if (error instanceof DoubtfulStateError) this.doubt('the reported state of the stream may be outdated');
    // Log the same failure only once, because a check runs every few seconds.
    const failure = String(error);
    if (failure === this.lastFailure) return;
    this.lastFailure = failure;
    this.logger.warn({ err: error }, 'cannot check the EVENTS stream, retrying within 5 s');
  }

  private doubt(reason: string): void {
    this.doubts += 1;
    if (!this.current) return;
    this.current = undefined;
    this.publisher.abandon(reason);
    this.logger.warn(
      { reason },
      'the state of the EVENTS stream is uncertain, pausing publishing until a check succeeds',
    );
  }

  private trust(epoch: string): void {
    this.lastFailure = undefined;
    if (this.highest && this.highest.epoch !== epoch) this.highest = undefined;
    if (this.current?.epoch === epoch) return;
    this.current = { epoch };
    // Batches in flight were sent to the previous stream, which will not acknowledge them.
    this.publisher.abandon('the EVENTS stream was replaced');
    this.logger.info({ epoch }, 'EVENTS stream verified, publishing stored events');
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type ConnectionWatch, StreamPublisher } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { DoubtfulStateError, EventsStream, ForeignStreamError } from './events-stream.js';
import { StreamCheck, type Witness } from './stream-check.service.js';

/**
 * The trusted state of the stream. Each doubt ends with a new object, even when the epoch is the same, because an acknowledgement from
 * before the doubt does not prove that the stream still holds the batch.
 */
export interface TrustedStream {
  readonly epoch: string;
}

/** The acknowledgement of a batch. */
export interface Acknowledgement {
  trusted: TrustedStream;
  eventIds: readonly string[];
  lastSequence: number;
  /** The highest sequence that was known when the batch was sent. New messages get higher sequences. */
  sentAfter: number;
}

// How often the stream is checked while it is trusted, and while it is in doubt.
const checkIntervalMs = 5_000;
const doubtIntervalMs = 1_000;
// How long the start waits for the first check, which usually takes milliseconds. When the check takes longer, the service starts and
// stores events without it.
const startLimitMs = 5_000;

/**
 * Decides when the relay may trust the EVENTS stream, and under which epoch.
 *
 * ```
 *             ┌──────────── check: intact, or repaired ────────────────┐
 *             │                                                        ▼
 *         in doubt ◀── connection lost · stream not responding ─── trusted
 *  checked on reconnect,      · stream of another platform      checked every 5 s, and when a
 *  and every second;          · stream without its files        sequence is lower than an earlier one
 *  nothing is published       · stream whose state may be old
 * ```
 *
 * Publishing while the stream is in doubt would reuse the sequences of lost events and so hide the loss.
 */
@Injectable()
export class StreamWatch {
  private current: TrustedStream | undefined;
  /** The acknowledged batch of this instance with the highest sequence. */
  private highest: Witness | undefined;
  /**
   * The value of `highest` at the last check. With this batch, a check finds a loss even if the stream has since grown beyond the batch's
   * sequence again.
   */
  private earlier: Witness | undefined;
  /** The epoch of a stream that no longer accepts messages; cleared when another stream replaces it. */
  private brokenEpoch: string | undefined;
  /** The number of doubts so far. A check that began before the latest doubt does not end that doubt. */
  private doubts = 0;
  private connection: ConnectionWatch | undefined;
  private isStopped = false;
  /** Whether the stream is up to date with the configuration of this instance. */
  private isPrepared = false;
  private isCheckDue = false;
  /** When the last check began, from a monotonic clock, so that publishing continues when the machine's time is changed. */
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

  /** Undefined while the stream is in doubt. Publish nothing while this is undefined. */
  get trusted(): TrustedStream | undefined {
    return this.current;
  }

  /** The highest sequence that the stream has acknowledged to this instance. */
  get highestSequence(): number {
    return this.highest?.lastSequence ?? 0;
  }

  /**
   * Creates the stream or brings it up to date, then watches it. Waits up to 5 s for the first check. Repairing a stream that has lost many
   * events takes longer and continues in the background. Nothing is published until the repair is complete.
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
    // If the state may be outdated, the service starts in doubt: it stores events, but publishes nothing.
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

  /** Call this when the stream does not respond. Stops publishing until a check succeeds. */
  suspect(): void {
    this.doubt('the stream does not respond');
    this.checkSoon();
  }

  /** Call this when the broker has lost the files of the stream. Stops publishing until the next check has recreated the stream. */
  markBroken(trusted: TrustedStream): void {
    if (trusted !== this.current) return;
    this.brokenEpoch = trusted.epoch;
    this.doubt('the broker has lost the files of the stream');
    this.checkSoon();
  }

  /** Records an acknowledgement. Checks the stream when `lastSequence` is lower than `sentAfter`. */
  noteAcknowledged({ trusted, eventIds, lastSequence, sentAfter }: Acknowledgement): void {
    if (trusted !== this.current) return;
    if (lastSequence > this.highestSequence) this.highest = { epoch: trusted.epoch, lastSequence, eventIds };
    // If the batch was empty or already on the stream, the check finds the stream intact.
    else if (lastSequence < sentAfter) this.checkSoon();
  }

  /**
   * Checks the stream now, and trusts it if the check succeeds and no doubt has arisen during the check.
   *
   * @throws ForeignStreamError
   * @throws DoubtfulStateError when the reported state of the stream may be outdated
   * @throws when the broker or the database does not respond
   */
  async check(): Promise<void> {
    this.lastCheckAt = performance.now();
    this.isCheckDue = false;
    const doubts = this.doubts;
    const highest = this.highest;
    const witnesses = [this.earlier, highest].filter((witness) => witness !== undefined);
    const epoch = this.isPrepared
      ? await this.streamCheck.run(witnesses, this.brokenEpoch)
      : await this.streamCheck.prepare(witnesses);
    this.isPrepared = true;
    this.earlier = highest;
    if (doubts === this.doubts) this.trust(epoch);
  }

  private onTick(): void {
    const interval = this.current && !this.isCheckDue ? checkIntervalMs : doubtIntervalMs;
    if (performance.now() >= this.lastCheckAt + interval) this.checkInBackground();
  }

  /** Checks as soon as one second has passed since the last check began. */
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
    // Log each cause only once while it lasts.
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
    this.brokenEpoch = undefined;
    if (this.highest && this.highest.epoch !== epoch) this.highest = undefined;
    if (this.current?.epoch === epoch) return;
    this.current = { epoch };
    // The batches in flight were sent to the previous stream.
    this.publisher.abandon('the EVENTS stream was replaced');
    this.logger.info({ epoch }, 'EVENTS stream verified, publishing stored events');
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type ConnectionWatch, StreamPublisher } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { EventsStream, ForeignStreamError } from './events-stream.js';
import { StreamCheck, type Witness } from './stream-check.service.js';

/**
 * What this instance holds true of the stream since it was last in doubt. A new object after each doubt, also when the
 * epoch is the same: an acknowledgement from before says nothing about the stream of today.
 */
export interface Standing {
  readonly epoch: string;
}

/** What the stream has acknowledged of a batch. */
export interface Acknowledgement {
  standing: Standing;
  eventIds: readonly string[];
  lastSequence: number;
  /** The highest sequence that was known when the batch was sent: what came later is beyond it. */
  sentAfter: number;
}

// How often the stream is checked while nothing speaks against it, and how often while it is in doubt.
const checkIntervalMs = 5_000;
const doubtIntervalMs = 1_000;
// Ordinarily milliseconds. Events are taken in all the same when it takes longer.
const startLimitMs = 5_000;

/**
 * Says when the EVENTS stream may be trusted, and under which epoch.
 *
 * ```
 *             ┌─────────────── check: intact, or made so ──────────────┐
 *             │                                                        ▼
 *         in doubt ◀── connection lost · no answer from a stream ─ trusted
 *  checked on reconnect,      · stream of another platform      checked every 5 s, and when a
 *  and every second; nothing    · stream without its files      sequence is lower than one before
 *  is published
 * ```
 *
 * Nothing is published in doubt because that would fill the hole in the stream's sequences, and so hide it.
 */
@Injectable()
export class StreamWatch {
  private current: Standing | undefined;
  /** The batch with the highest sequence that was acknowledged to this instance. */
  private highest: Witness | undefined;
  /** The one that was it at the last check: should the stream lose it and go beyond it again, it still testifies. */
  private earlier: Witness | undefined;
  /** The epoch of a stream that can take nothing more, until another one is in its place. */
  private condemned: string | undefined;
  /** Counts the doubts: a check that began before the last one does not end it. */
  private doubts = 0;
  private connection: ConnectionWatch | undefined;
  private isStopped = false;
  private isCheckDue = false;
  /** By a clock that never goes back: a machine whose time is set must not stop publishing. */
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

  /** Undefined while the stream is in doubt: nothing may be published then. */
  get standing(): Standing | undefined {
    return this.current;
  }

  /** The highest sequence that this instance knows to be acknowledged. */
  get highestSequence(): number {
    return this.highest?.lastSequence ?? 0;
  }

  /**
   * Makes the stream, or brings it up to date, and watches it from then on. A stream that has lost much takes longer than
   * this waits: it is seen to in the background, and nothing is published meanwhile.
   *
   * @throws ForeignStreamError
   * @throws when broker or database do not answer, or the broker has no room for the stream
   */
  async start(): Promise<void> {
    this.connection = this.stream.watchConnection({
      onLost: () => this.doubt('the connection to NATS is lost'),
      onBack: () => this.checkInBackground(),
    });
    const prepared = this.prepare();
    this.runInBackground(prepared);
    await Promise.race([prepared, wait(startLimitMs, undefined, { ref: false })]);
    this.timer = setInterval(() => this.onTick(), doubtIntervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  /** Nobody answers for the stream: nothing more is published until a check has looked for it. */
  suspect(): void {
    this.doubt('the stream does not answer');
    this.checkSoon();
  }

  /** The broker has lost the files of this stream: it is made anew. */
  condemn(standing: Standing): void {
    if (standing !== this.current) return;
    this.condemned = standing.epoch;
    this.doubt('the broker has lost the files of the stream');
    this.checkSoon();
  }

  /** Notes what the stream has acknowledged; when that is lower than before, the stream is checked. */
  noteAcknowledged({ standing, eventIds, lastSequence, sentAfter }: Acknowledgement): void {
    if (standing !== this.current) return;
    if (lastSequence > this.highestSequence) this.highest = { epoch: standing.epoch, lastSequence, eventIds };
    // Or the batch was on the stream already, or empty; then the check finds nothing.
    else if (lastSequence < sentAfter) this.checkSoon();
  }

  /**
   * Checks the stream now, and trusts it when nothing speaks against it.
   *
   * @throws when broker or database do not answer
   */
  async check(): Promise<void> {
    this.lastCheckAt = performance.now();
    this.isCheckDue = false;
    const doubts = this.doubts;
    const highest = this.highest;
    const witnesses = [this.earlier, highest].filter((witness) => witness !== undefined);
    const epoch = await this.streamCheck.run(witnesses, this.condemned);
    this.earlier = highest;
    if (doubts === this.doubts) this.trust(epoch);
  }

  private onTick(): void {
    const interval = this.current && !this.isCheckDue ? checkIntervalMs : doubtIntervalMs;
    if (performance.now() >= this.lastCheckAt + interval) this.checkInBackground();
  }

  /** At once, or when the last check is a second old. */
  private checkSoon(): void {
    this.isCheckDue = true;
    this.onTick();
  }

  private async prepare(): Promise<void> {
    const doubts = this.doubts;
    const epoch = await this.streamCheck.prepare();
    if (doubts === this.doubts) this.trust(epoch);
  }

  private checkInBackground(): void {
    // Without a connection a check would only wait for its time limit.
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
    if (error instanceof ForeignStreamError) this.doubt('the stream is of another platform');
    // Once for each cause, however long it lasts.
    const failure = String(error);
    if (failure === this.lastFailure) return;
    this.lastFailure = failure;
    this.logger.warn({ err: error }, 'the EVENTS stream could not be checked: tried again every few seconds');
  }

  private doubt(reason: string): void {
    this.doubts += 1;
    if (!this.current) return;
    this.current = undefined;
    this.publisher.abandon(reason);
    this.logger.warn({ reason }, 'nothing is published until the EVENTS stream has been checked');
  }

  private trust(epoch: string): void {
    this.lastFailure = undefined;
    this.condemned = undefined;
    if (this.highest && this.highest.epoch !== epoch) this.highest = undefined;
    if (this.current?.epoch === epoch) return;
    this.current = { epoch };
    // What is in flight was sent to the stream that was here before.
    this.publisher.abandon('the EVENTS stream was replaced');
    this.logger.info({ epoch }, 'stored events are published to the EVENTS stream');
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { within } from '@stream-events/messaging';
import { FailureLog, LOGGER, Registry, type Logger, pause } from '@stream-events/service';
import type { EventRingBuffer } from './event-ring-buffer.js';
import { EventsStreamClient, type StreamMessage, type StreamState } from './events-stream-client.js';
import { FeedHealth } from './feed-health.js';
import { FeedMetrics } from './feed-metrics.js';
import { FeedTrack } from './feed-track.js';
import type { LiveEvent } from './live-event.js';
import type { Position } from './position.js';
import { lostEnd, planReading, type ReadingPlan } from './reading-plan.js';
import { SharedRun } from './shared-run.js';
import { StreamReader } from './stream-reader.js';
import { untilAborted } from './until-aborted.js';
import type { GapReason } from '../gap-reasons.js';

/** The stream does not go on where it was read up to. */
export interface Interruption {
  reason: GapReason;
  /** The sequence, of the new ring, where reading goes on. */
  nextSequence: number;
}

/** What the feed tells. */
export interface FeedListener {
  /** A new event, which the ring has already. */
  onEvent(event: LiveEvent): void;
  /** There is another ring. What it has already is not told of one by one: it is read from there. */
  onInterrupted(interruption: Interruption): void;
}

// Soon after a short failure, and no burden to a broker that starts.
const minBackoffMs = 250;
const maxBackoffMs = 2_000;
// A new epoch does not disturb the consumer: nothing tells of it but the stream's info.
const lookIntervalMs = 1_000;
const stopLimitMs = 3_000;

// The broker goes on behind messages that left the stream before it sent them, without a word.
const missing = 'messages are missing: the stream is looked at anew, since they may have left it unread';

type Reading = Exclude<ReadingPlan, { kind: 'wait' }>;

/**
 * Reads EVENTS once for all clients of this process.
 *
 * ```
 *          ┌────────── wait 0.25 s … 2 s ◀──────────┐
 *          ▼                                        │ no stream, no epoch, no answer;
 *  look at the stream (planReading) ────────────────┤ its end is lost
 *          │ go on │ begin                          │
 *          ▼       ▼                                │ connection lost, consumer gone or silent,
 *       read by a consumer of its own ──────────────┘ a hole in what it delivers or in the stream,
 *                                                     another message than the one known, another epoch
 * ```
 *
 * Each disturbance ends the consumer. Meanwhile everything stays as it was, clients too.
 */
@Injectable()
export class EventFeed {
  private readonly listeners: FeedListener[] = [];
  private readonly stopping = new AbortController();
  private readonly failureLog: FailureLog;
  private readonly health: FeedHealth;
  private readonly metrics: FeedMetrics;
  private readonly readingToEnd = new SharedRun(() => this.readToEnd());
  private running: Promise<void> = Promise.resolve();
  private track: FeedTrack | undefined;
  private reader: StreamReader | undefined;
  private backoffMs = minBackoffMs;
  /** What `readToEnd` waits for. */
  private goal: { sequence: number; settle: (isReached: boolean) => void } | undefined;

  constructor(
    private readonly stream: EventsStreamClient,
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.health = new FeedHealth(logger, this.failureLog);
    this.metrics = new FeedMetrics(registry, () => this.health.isFailing);
  }

  /** The newest events; undefined until the stream was read for the first time. */
  get ringBuffer(): EventRingBuffer | undefined {
    return this.track?.ringBuffer;
  }

  /** The place of the newest event that was read; undefined like `ring`. */
  get head(): Position | undefined {
    return this.track?.head;
  }

  /** The sequence after the newest one that was read. */
  get nextSequence(): number {
    return this.track?.nextSequence ?? 1;
  }

  /** Tells of everything from now on. */
  listen(listener: FeedListener): void {
    this.listeners.push(listener);
  }

  /** Begins to read; returns at once. */
  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.reader?.end('the service stops');
    this.settleGoal(false);
    await within(stopLimitMs, this.running);
  }

  /** @throws when the stream could not be read for half a minute */
  check(): Promise<void> {
    return this.health.check();
  }

  /**
   * Waits until everything is read that was on the stream when this was called; for as long as the stream cannot be read.
   *
   * @throws the signal's reason
   */
  async untilCurrent(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await untilAborted(this.readingToEnd.join(), signal);
  }

  private isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(): Promise<void> {
    while (!this.isStopped()) {
      const cause = await this.readUntilDisturbed().catch(String);
      if (this.isStopped()) return;
      this.health.noteFailure(cause);
      await this.backOff();
    }
  }

  /** @returns why it has ended, or could not begin */
  private async readUntilDisturbed(): Promise<string> {
    if (!this.stream.isConnected) return 'NATS is away';
    const plan = planReading(this.track, await this.stream.find());
    if (plan.kind === 'wait') return plan.cause;
    const track = plan.kind === 'go_on' ? plan.track : new FeedTrack(plan.epoch, plan.from, this.track);
    track.noteLook();
    const reader = await StreamReader.open(this.stream, plan.from, {
      onMessage: (message) => this.onMessage(track, message, plan),
      onIdle: (sequence) => this.onIdle(track, sequence, plan),
    });
    this.reader = reader;
    if (this.isStopped()) reader.end('the service stops');
    this.adoptWhenLoaded(track, plan);
    // Else the first message says whether the stream is still what was read.
    if (plan.from === track.nextSequence) this.onProgress(track);
    const looking = setInterval(() => void this.lookAgain(track, reader), lookIntervalMs);
    try {
      return await reader.ended;
    } finally {
      clearInterval(looking);
    }
  }

  private onMessage(track: FeedTrack, message: StreamMessage, plan: Reading): void {
    if (track.isContradictedBy(message)) return this.reader?.end(lostEnd);
    if (this.isMissingBefore(track, message.sequence)) return this.reader?.end(missing);
    const isSilent = track !== this.track;
    const event = track.take(message);
    this.metrics.noteRead();
    if (message.id === undefined)
      this.failureLog.warn('a message on the EVENTS stream has no id of an event: it is passed over', {
        sequence: message.sequence,
      });
    if (isSilent) this.adoptWhenLoaded(track, plan);
    else if (event) this.tell((listener) => listener.onEvent(event));
    this.onProgress(track);
  }

  private onIdle(track: FeedTrack, sequence: number, plan: Reading): void {
    if (this.isMissingBefore(track, sequence + 1)) return this.reader?.end(missing);
    track.passTo(sequence);
    this.adoptWhenLoaded(track, plan);
    this.onProgress(track);
  }

  /** What has not been adopted yet begins wherever the stream does. */
  private isMissingBefore(track: FeedTrack, sequence: number): boolean {
    return track === this.track && track.isMissingBefore(sequence);
  }

  /** From now on it is what was read; where it is not the first, clients learn of it. */
  private adoptWhenLoaded(track: FeedTrack, plan: Reading): void {
    if (track === this.track || plan.kind !== 'begin' || track.nextSequence <= plan.silentUntil) return;
    const { epoch, reason, from } = plan;
    this.track = track;
    this.settleGoal(false);
    this.logger.info({ epoch, from, nextSequence: track.nextSequence, reason }, 'live events are read');
    if (!reason) return;
    this.metrics.noteInterruption(reason);
    this.tell((listener) => listener.onInterrupted({ reason, nextSequence: from }));
  }

  private onProgress(track: FeedTrack): void {
    this.health.noteSuccess();
    this.backoffMs = minBackoffMs;
    if (this.goal && track === this.track && track.nextSequence > this.goal.sequence) this.settleGoal(true);
  }

  /** Looks for what the consumer does not notice; when the broker does not answer, it notices that. */
  private async lookAgain(track: FeedTrack, reader: StreamReader): Promise<void> {
    const readBefore = track.nextSequence - 1;
    const found = await this.stream.find().catch(() => 'no answer' as const);
    if (found === 'no answer') return;
    if (!isStillThere(track, found, readBefore)) reader.end('the EVENTS stream is not what it was');
    else this.metrics.noteLag(Math.max(0, found.lastSequence - (track.nextSequence - 1)));
  }

  private async readToEnd(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const end = await this.findEnd();
      if (end === undefined) await pause(minBackoffMs, signal);
      else if (await this.hasRead(end)) return;
    }
    throw new Error('the service stops');
  }

  /** The last sequence of the stream; undefined while the stream is not what is read. */
  private async findEnd(): Promise<number | undefined> {
    const { track } = this;
    if (!track || this.health.isFailing || !this.stream.isConnected) return undefined;
    const readBefore = track.nextSequence - 1;
    const found = await this.stream.find().catch(() => undefined); // it is asked again
    return track === this.track && isStillThere(track, found, readBefore) ? found.lastSequence : undefined;
  }

  /** Waits until what was read goes up to a sequence; false when it never will, because something else is read now. */
  private hasRead(sequence: number): Promise<boolean> {
    if (this.nextSequence > sequence) return Promise.resolve(true);
    return new Promise((settle) => {
      this.goal = { sequence, settle };
    });
  }

  private settleGoal(isReached: boolean): void {
    const { goal } = this;
    this.goal = undefined;
    goal?.settle(isReached);
  }

  private tell(what: (listener: FeedListener) => void): void {
    for (const listener of this.listeners) {
      try {
        what(listener);
      } catch (err) {
        this.failureLog.warn('an event could not be handed to live clients', { err });
      }
    }
  }

  private async backOff(): Promise<void> {
    // Looking whether the connection is back costs nothing.
    const backoffMs = this.stream.isConnected ? this.backoffMs : minBackoffMs;
    if (this.stream.isConnected) this.backoffMs = Math.min(2 * backoffMs, maxBackoffMs);
    await pause(backoffMs, this.stopping.signal);
  }
}

/** Whether the stream has at least what was read of it before it was asked. */
function isStillThere(
  track: FeedTrack,
  found: StreamState | undefined,
  readBefore: number,
): found is StreamState {
  return found?.epoch === track.epoch && found.lastSequence >= readBefore;
}

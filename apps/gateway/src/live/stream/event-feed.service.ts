import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, Registry, type Logger, pause, within } from '@stream-events/service';
import { ErasedMessages } from './erased-messages.js';
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

/** An interruption: the stream does not continue after the last event that was read. */
export interface Interruption {
  reason: GapReason;
  /** The sequence in the new ring buffer at which clients continue. */
  nextSequence: number;
}

/** Receives the events that the feed reads. */
export interface FeedListener {
  /** A new event. It is already in the ring buffer. */
  onEvent(event: LiveEvent): void;
  /** The feed has a new ring buffer. `onEvent` is not called for the events that the new ring buffer already contains. */
  onInterrupted(interruption: Interruption): void;
}

// The first pause after a failure: short enough to recover quickly from a brief failure, but long enough to spare a NATS server that is
// starting.
const minBackoffMs = 250;
const maxBackoffMs = 2_000;
// How often to check the stream's info. Only the info shows a new epoch; consumers do not notice it.
const checkIntervalMs = 1_000;
// If the stream has unread messages but the reader does not advance for this long, the reader gets another consumer. Heartbeats, which also
// advance the reader, arrive every second.
const standstillMs = 2_500;
const stopLimitMs = 3_000;

// nats-server silently skips messages that leave the stream before the consumer delivers them.
const missing =
  'messages are missing and may have left the stream before they were read: checking the stream';

// NATS can place a consumer on a server that is still catching up after a restart. Such a consumer sends heartbeats, but not the messages
// that its server lacks.
const lagging =
  'the consumer does not deliver messages that the stream has, and may be on a NATS server that is catching up: creating another consumer';

type Reading = Exclude<ReadingPlan, { kind: 'wait' }>;

/**
 * Reads the EVENTS stream once for all clients of this process.
 *
 * ```
 *          ┌────────── wait 0.25 s … 2 s ◀──────────┐
 *          ▼                                        │ no stream, no epoch, no response;
 *  check the stream (planReading) ──────────────────┤ the stream lost its tail
 *          │ continue │ begin                       │
 *          ▼          ▼                             │ connection lost, consumer gone or silent,
 *       read with a new consumer ───────────────────┘ a hole in the deliveries or in the stream,
 *                                                     an unexpected message, another epoch
 * ```
 *
 * Each disturbance ends the consumer. Until the next consumer reads, clients stay connected and keep their positions.
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
  /** Set while the stream has unread messages: the next sequence to read, and since when it has not advanced. */
  private behind: { sequence: number; since: number } | undefined;
  /** The sequence that `readToEnd` waits for. */
  private goal: { sequence: number; settle: (isReached: boolean) => void } | undefined;

  constructor(
    private readonly stream: EventsStreamClient,
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
    @Inject(ErasedMessages) private readonly erased: Pick<ErasedMessages, 'wereErased'>,
  ) {
    this.failureLog = new FailureLog(logger);
    this.health = new FeedHealth(logger, this.failureLog);
    this.metrics = new FeedMetrics(registry, () => this.health.isFailing);
  }

  /** Undefined until the stream has been read for the first time. */
  get ringBuffer(): EventRingBuffer | undefined {
    return this.track?.ringBuffer;
  }

  /** The position of the newest event that was read. Undefined while `ringBuffer` is undefined. */
  get head(): Position | undefined {
    return this.track?.head;
  }

  /** The sequence after the newest message that was read. */
  get nextSequence(): number {
    return this.track?.nextSequence ?? 1;
  }

  /** Adds a listener, which receives every new event and interruption. */
  listen(listener: FeedListener): void {
    this.listeners.push(listener);
  }

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.reader?.end('the service is stopping');
    this.settleGoal(false);
    await within(stopLimitMs, this.running);
  }

  /** Health check. @throws if the stream could not be read for 30 s */
  check(): Promise<void> {
    return this.health.check();
  }

  /**
   * Waits until the feed has read everything that is on the stream now. Keeps waiting while the feed cannot read the stream.
   *
   * @throws the signal's reason when the signal aborts; an error when the service stops
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

  /** Reads until a disturbance. Returns why reading ended or could not start. */
  private async readUntilDisturbed(): Promise<string> {
    if (!this.stream.isConnected) return 'NATS is unavailable';
    const plan = await this.plan();
    if (plan.kind === 'wait') return plan.cause;
    const track = plan.kind === 'continue' ? plan.track : new FeedTrack(plan.epoch, plan.from, this.track);
    track.noteLook();
    const reader = await StreamReader.open(this.stream, plan.from, {
      onMessage: (message) => this.onMessage(track, message, plan),
      onIdle: (sequence) => this.onIdle(track, sequence, plan),
    });
    this.reader = reader;
    this.behind = undefined;
    if (this.isStopped()) reader.end('the service is stopping');
    this.adoptWhenLoaded(track, plan);
    // If the plan starts at an earlier sequence, wait for the first message, which shows whether this is still the same stream.
    if (plan.from === track.nextSequence) this.onProgress(track);
    const checking = setInterval(() => void this.checkStream(track, reader), checkIntervalMs);
    try {
      return await reader.ended;
    } finally {
      clearInterval(checking);
    }
  }

  /** Plans how to continue. If erasures removed all messages that are missing at the start of the stream, this is not an interruption. */
  private async plan(): Promise<ReadingPlan> {
    const found = await this.stream.find();
    const { track } = this;
    const plan = planReading(track, found);
    if (!track || plan.kind !== 'begin' || plan.reason !== 'expired') return plan;
    if (!(await this.erased.wereErased(plan.epoch, track.nextSequence, plan.from - 1))) return plan;
    track.passTo(plan.from - 1);
    return planReading(track, found);
  }

  private onMessage(track: FeedTrack, message: StreamMessage, plan: Reading): void {
    if (track.isContradictedBy(message)) return this.reader?.end(lostEnd);
    if (this.isMissingBefore(track, message.sequence)) return this.reader?.end(missing);
    const isSilent = track !== this.track;
    const event = track.take(message);
    this.metrics.noteRead();
    if (message.id === undefined)
      this.failureLog.warn('ignoring a message on the EVENTS stream that has no event id', {
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

  /** Whether messages before this sequence are missing. A track that is not current yet can begin at any sequence, so none are missing. */
  private isMissingBefore(track: FeedTrack, sequence: number): boolean {
    return track === this.track && track.isMissingBefore(sequence);
  }

  /** Makes a fully loaded track the current one. If it replaces another track, reports the interruption to the listeners. */
  private adoptWhenLoaded(track: FeedTrack, plan: Reading): void {
    if (track === this.track || plan.kind !== 'begin' || track.nextSequence <= plan.silentUntil) return;
    const { epoch, reason, from } = plan;
    this.track = track;
    this.settleGoal(false);
    this.logger.info({ epoch, from, nextSequence: track.nextSequence, reason }, 'reading live events');
    if (!reason) return;
    this.metrics.noteInterruption(reason);
    this.tell((listener) => listener.onInterrupted({ reason, nextSequence: from }));
  }

  private onProgress(track: FeedTrack): void {
    this.health.noteSuccess();
    this.backoffMs = minBackoffMs;
    if (this.goal && track === this.track && track.nextSequence > this.goal.sequence) this.settleGoal(true);
  }

  /**
   * Checks for changes that the consumer cannot detect. Ignores a failed check: if NATS is unavailable, missing heartbeats end the reader.
   */
  private async checkStream(track: FeedTrack, reader: StreamReader): Promise<void> {
    const readBefore = track.nextSequence - 1;
    const found = await this.stream.find().catch(() => 'no response' as const);
    if (found === 'no response' || reader !== this.reader) return;
    if (!isStillThere(track, found, readBefore)) {
      reader.end('the EVENTS stream was replaced or has lost its tail');
      return;
    }
    const { nextSequence } = track;
    this.metrics.noteLag(Math.max(0, found.lastSequence - (nextSequence - 1)));
    if (found.lastSequence < nextSequence) this.behind = undefined;
    else if (this.behind?.sequence !== nextSequence)
      this.behind = { sequence: nextSequence, since: performance.now() };
    else if (performance.now() > this.behind.since + standstillMs) reader.end(lagging);
  }

  private async readToEnd(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const end = await this.findEnd();
      if (end === undefined) await pause(minBackoffMs, signal);
      else if (await this.hasRead(end)) return;
    }
    throw new Error('the service is stopping');
  }

  /** Returns the last sequence of the stream. Undefined if the stream cannot be read, was replaced, or has lost its tail. */
  private async findEnd(): Promise<number | undefined> {
    const { track } = this;
    if (!track || this.health.isFailing || !this.stream.isConnected) return undefined;
    const readBefore = track.nextSequence - 1;
    const found = await this.stream.find().catch(() => undefined); // the caller retries
    return track === this.track && isStillThere(track, found, readBefore) ? found.lastSequence : undefined;
  }

  /**
   * Resolves to true when everything up to a sequence has been read. Resolves to false if another track replaces the current one first, or
   * the service stops.
   */
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
        this.failureLog.warn('cannot pass an event or an interruption on to live clients', { err });
      }
    }
  }

  private async backOff(): Promise<void> {
    // Without a connection, keep the wait short, because the next attempt is only a local check.
    const backoffMs = this.stream.isConnected ? this.backoffMs : minBackoffMs;
    if (this.stream.isConnected) this.backoffMs = Math.min(2 * backoffMs, maxBackoffMs);
    await pause(backoffMs, this.stopping.signal);
  }
}

/** Whether the stream still has the track's epoch and still reaches the sequence `readBefore`. */
function isStillThere(
  track: FeedTrack,
  found: StreamState | undefined,
  readBefore: number,
): found is StreamState {
  return found?.epoch === track.epoch && found.lastSequence >= readBefore;
}

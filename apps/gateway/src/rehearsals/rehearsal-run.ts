import { printReplayedEventRecord, ServiceError, type StoredEvent } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import type { RequestClient } from '@stream-events/messaging';
import { pause, within, type FailureLog } from '@stream-events/service';
import type { NamedConnections } from '../live/connections/named-connections.js';
import type { ErasureWatch } from '../live/stream/erasure-watch.service.js';
import { readReplayPage } from '../replays/replay-page.js';
import { describeFailure } from '../replays/replay-run.js';
import { rehearsalLimits } from './rehearsal-limits.js';
import { RehearsalSchedule } from './rehearsal-schedule.js';
import type { Rehearsal } from './rehearsal.entity.js';
import type { RehearsalsRepository } from './rehearsals.repository.js';

/** The services that a run uses. */
export interface RehearsalParts {
  rehearsals: Pick<RehearsalsRepository, 'saveProgress' | 'end'>;
  client: RequestClient;
  connections: Pick<NamedConnections, 'send'>;
  failures: FailureLog;
  /** Filters out events of users who were erased after the run had read these events. */
  erasures: Pick<ErasureWatch, 'isErased'>;
}

// How often a run saves its progress and picks up changes by clients. Changes thus apply within a second. If the gateway dies, the gateway
// that takes over repeats the events of the last half second.
const saveEveryMs = 500;
// A run reads the next page when fewer events than this are waiting. This is half a page, so at most two pages are in memory.
const minWaiting = 50;
// Maximum size of one message to the connections. JSON escapes enlarge a message, so stay far below the 1 MiB that the receiving gateway
// buffers for a slow client.
const maxBatchEvents = 50;
const maxBatchBytes = 256 * 1024;
const retryMs = 500;
// Maximum time that a stopping gateway waits for the connections to receive the last batch.
const sendLimitMs = 2_000;

/**
 * Runs one rehearsal in this process, whether started here or taken over. Three activities run in parallel, each at most once:
 *
 * ```
 *  reading   the next page, while few events are waiting
 *  sending   the events that are due, in batches; waits until the connections have received a batch.
 *            Without events: counts the connections, twice a second
 *  saving    the progress, twice a second; applies changes by clients
 * ```
 *
 * The rehearsal waits while no connection receives it, so that an overlay that reconnects has missed nothing. Unconfirmed batches are sent
 * again.
 */
export class RehearsalRun {
  private row: Rehearsal;
  private schedule: RehearsalSchedule<StoredEvent>;
  /** The next page begins after this event id. Null after the last page, and before the first, which begins at the pass's start time. */
  private next: string | null;
  private position: string | null;
  private sent: number;
  /** How many connections received the last message. Null before the first reply. */
  private connections: number | null = null;
  private isReading = false;
  private sending: Promise<void> | undefined;
  private readonly notBefore = { save: -Infinity, read: -Infinity, send: -Infinity, count: -Infinity };
  private failure: string | undefined;
  /** Ends the wait before the next step. */
  private wake: () => void = () => undefined;

  constructor(
    rehearsal: Rehearsal,
    private readonly gateway: string,
    private readonly parts: RehearsalParts,
  ) {
    this.row = rehearsal;
    this.next = this.position = rehearsal.position;
    this.sent = rehearsal.sent;
    this.schedule = this.startPass();
  }

  /** Number of events sent so far, or skipped as erased, including those that earlier gateways handled. */
  get sentCount(): number {
    return this.sent;
  }

  /** Returns when the rehearsal has ended, another gateway has taken it over, or the signal aborts. */
  async run(stopping: AbortSignal): Promise<void> {
    stopping.addEventListener('abort', () => this.wake(), { once: true });
    while (!stopping.aborted) {
      try {
        const woken = new Promise<void>((resolve) => (this.wake = resolve));
        const pauseMs = await this.step();
        if (pauseMs === undefined) return;
        await within(pauseMs, woken);
      } catch (error) {
        this.takeFailure(error);
        await pause(retryMs, stopping);
      }
    }
    await within(sendLimitMs, this.sending ?? Promise.resolve());
    // If this fails, the next gateway repeats a few events.
    await this.save().catch((error: unknown) => this.takeFailure(error));
  }

  /** Starts the activities that are due. Returns the milliseconds until the next step, or undefined when the run is over. */
  private async step(): Promise<number | undefined> {
    const now = performance.now();
    if (now >= this.notBefore.save && !(await this.save())) return undefined;
    if (this.failure !== undefined || this.isOver(now)) return this.end(now);
    if (!this.isReading && now >= this.notBefore.read) this.startReading();
    if (!this.sending && now >= this.notBefore.send) this.startSending(now);
    return this.msUntilStep(performance.now());
  }

  private startPass(): RehearsalSchedule<StoredEvent> {
    const { reachedAt, until } = this.row;
    return new RehearsalSchedule(reachedAt.getTime(), until.getTime(), this.pace, performance.now());
  }

  private get pace(): { speed: number; isPaused: boolean } {
    return { speed: this.row.speed, isPaused: this.row.isPaused || !this.hasConnection };
  }

  private get hasConnection(): boolean {
    return (this.connections ?? 0) > 0;
  }

  private startReading(): void {
    const { schedule, row, next } = this;
    if (schedule.hasAll || schedule.waitingCount >= minWaiting) return;
    this.isReading = true;
    // The first page of a pass begins at the time `reachedAt`. Later pages begin after the event id `next`.
    const range = next === null ? { ...row, since: row.reachedAt } : row;
    readReplayPage(this.parts.client, range, next)
      .then((page) => {
        // A seek has started another pass since this read began. Drop the page.
        if (schedule !== this.schedule) return;
        this.next = page.next;
        schedule.add(page.events, page.next, performance.now());
      })
      .catch((error: unknown) => {
        this.notBefore.read = performance.now() + retryMs;
        this.takeFailure(error);
      })
      .finally(() => {
        this.isReading = false;
        this.wake();
      });
  }

  private startSending(now: number): void {
    const { schedule, row } = this;
    const batch = fit(schedule.due(now));
    if (batch.length === 0 && now < this.notBefore.count) return;
    const { connections, erasures } = this.parts;
    const records = batch
      .filter(({ id, eventData }) => !erasures.isErased(id, eventData))
      .map((event) => ({ id: event.id, record: printReplayedEventRecord(event) }));
    this.sending = connections
      .send({ target: { userId: row.userId, name: row.connectionName }, records })
      .then((count) => {
        const sentAt = performance.now();
        this.notBefore.count = sentAt + saveEveryMs;
        this.connections = count;
        if (this.hasConnection && batch.length > 0) {
          this.notBefore.send = sentAt + (batch.length * 1_000) / rehearsalLimits.eventsPerSecond;
          schedule.markSent(batch.length, sentAt);
          this.sent += batch.length;
          if (schedule === this.schedule) this.position = batch.at(-1)?.id ?? null;
        }
        this.schedule.change(this.pace, sentAt);
      })
      .catch((error: unknown) => {
        this.notBefore.send = performance.now() + retryMs;
        this.takeFailure(error);
      })
      .finally(() => {
        this.sending = undefined;
        this.wake();
      });
  }

  /** Saves the progress and loads changes by clients. Returns false if the rehearsal has ended or another gateway runs it. */
  private async save(): Promise<boolean> {
    const now = performance.now();
    this.notBefore.save = now + saveEveryMs;
    const saved = await this.parts.rehearsals.saveProgress(this.row, this.gateway, {
      reachedAt: new Date(this.schedule.reached(now)),
      position: this.position,
      sent: this.sent,
      connections: this.connections ?? 0,
      isPlaying: !this.pace.isPaused,
    });
    if (!saved) return false;
    const isSought = saved.pass !== this.row.pass;
    this.row = saved;
    if (isSought) {
      this.next = this.position = null;
      this.schedule = this.startPass();
    } else this.schedule.change(this.pace, performance.now());
    return true;
  }

  private isOver(now: number): boolean {
    return this.schedule.isDone(now) || this.isAbandoned;
  }

  private get isAbandoned(): boolean {
    return Date.now() - this.row.movedAt.getTime() > rehearsalLimits.maxIdleHours * 3_600_000;
  }

  /** Ends the rehearsal, unless a client has just changed it. Ends a failed rehearsal in any case. */
  private async end(now: number): Promise<number | undefined> {
    // Save first: the stored count must include the last events, and saving reveals whether a client has just changed the rehearsal.
    const { revision } = this.row;
    if (!(await this.save())) return undefined;
    if (this.row.revision !== revision && this.failure === undefined) return 0;
    // If the machine slept, `movedAt` was old although the rehearsal was playing. The save has just updated `movedAt`, so look again.
    if (this.failure === undefined && !this.isOver(now)) return 0;
    const isDone = this.failure === undefined && this.schedule.isDone(now);
    const idle = `The rehearsal was paused, or had no connection, for ${rehearsalLimits.maxIdleHours} hours.`;
    await this.parts.rehearsals.end(this.row, this.gateway, {
      status: isDone ? 'done' : 'failed',
      error: isDone ? null : (this.failure ?? idle),
    });
    return 0;
  }

  private msUntilStep(now: number): number {
    const { save, send, count } = this.notBefore;
    const msUntilSend = Math.max(send - now, Math.min(this.schedule.msUntilDue(now), count - now));
    return Math.max(0, Math.min(save - now, this.sending ? Infinity : msUntilSend));
  }

  private takeFailure(error: unknown): void {
    const known = toUnavailable(error);
    const isAway = known instanceof ServiceError && known.code === 'unavailable';
    const message = isAway ? 'cannot continue the rehearsal, retrying' : 'rehearsal failed';
    this.parts.failures.warn(message, { err: known, rehearsal: this.row.id });
    if (!isAway) this.failure ??= describeFailure(known, 'rehearsal');
  }
}

/** Returns as many events as fit into one message, but at least one. */
function fit(events: readonly StoredEvent[]): StoredEvent[] {
  let bytes = 0;
  const end = events.findIndex(({ eventData }, index) => {
    bytes += Buffer.byteLength(eventData);
    return index === maxBatchEvents || (index > 0 && bytes > maxBatchBytes);
  });
  return events.slice(0, end === -1 ? undefined : end);
}

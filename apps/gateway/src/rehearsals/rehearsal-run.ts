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

/** The parts of the process that a run uses. */
export interface RehearsalParts {
  rehearsals: Pick<RehearsalsRepository, 'saveProgress' | 'end'>;
  client: RequestClient;
  connections: Pick<NamedConnections, 'send'>;
  failures: FailureLog;
  /** Finds the events of users who were erased after the run had read these events. */
  erasures: Pick<ErasureWatch, 'isErased'>;
}

// A run saves its progress twice a second, so that a client's change takes effect within a second. If the gateway dies, another gateway
// sends the events of the last half second again.
const saveEveryMs = 500;
// Half a page: a run reads the next page when fewer events are waiting. At most two pages of events are therefore in memory.
const minWaiting = 50;
// Maximum size of one message to the connections: far below the 1 MiB that the receiving gateway buffers for a slow client, because JSON
// escapes enlarge a message.
const maxBatchEvents = 50;
const maxBatchBytes = 256 * 1024;
const retryMs = 500;
// How long a stopping gateway waits for the connections to receive the last batch.
const sendLimitMs = 2_000;

/**
 * A rehearsal that runs in this process, started here or taken over. Three activities run side by side, each at most once:
 *
 * ```
 *  reading   the next page, while few events are waiting
 *  sending   the events that are due, in batches; waits until the connections have received a batch.
 *            Without events: counts the connections, twice a second
 *  saving    the progress, twice a second; applies changes by clients
 * ```
 *
 * While no connection receives the rehearsal, the rehearsal does not advance, so that an overlay that reconnects misses nothing. The run
 * sends a batch again if no connection has confirmed the batch.
 */
export class RehearsalRun {
  private row: Rehearsal;
  private schedule: RehearsalSchedule<StoredEvent>;
  /** The event id after which the next page begins. Null before the first page, which begins at the start time of the pass. */
  private next: string | null;
  private position: string | null;
  private sent: number;
  /** Number of connections in the last reply. Null until the first reply. */
  private connections: number | null = null;
  private isReading = false;
  private sending: Promise<void> | undefined;
  private readonly notBefore = { save: -Infinity, read: -Infinity, send: -Infinity, count: -Infinity };
  private failure: string | undefined;
  /** Makes the next step begin immediately. */
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

  /** Number of events sent, including events that earlier gateways sent. */
  get sentCount(): number {
    return this.sent;
  }

  /** Runs until the rehearsal ends, another gateway takes it over, or the signal aborts. */
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
    // If saving fails, another gateway sends a few events again.
    await this.save().catch((error: unknown) => this.takeFailure(error));
  }

  /** Starts the activities that are due. Returns the wait before the next step in milliseconds, or undefined at the end. */
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
        // If a seek has begun another pass in the meantime, ignore the page.
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

  /** Saves the progress, and applies the changes of clients. Returns false if the rehearsal has ended or another gateway runs it. */
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

  /** Ends the rehearsal, unless a client has just changed it. */
  private async end(now: number): Promise<number | undefined> {
    // Save first, so that the stored count includes the last events. If a client has just changed the rehearsal, the rehearsal continues.
    const { revision } = this.row;
    if (!(await this.save())) return undefined;
    if (this.row.revision !== revision && this.failure === undefined) return 0;
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

/** Returns the first events, up to the size limits of one message. Always includes the first event. */
function fit(events: readonly StoredEvent[]): StoredEvent[] {
  let bytes = 0;
  const end = events.findIndex(({ eventData }, index) => {
    bytes += Buffer.byteLength(eventData);
    return index === maxBatchEvents || (index > 0 && bytes > maxBatchBytes);
  });
  return events.slice(0, end === -1 ? undefined : end);
}

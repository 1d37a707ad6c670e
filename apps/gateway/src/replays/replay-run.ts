import { ServiceError, type StoredEvent } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import type { RequestClient } from '@stream-events/messaging';
import { pause, type FailureLog } from '@stream-events/service';
import type { ErasureWatch } from '../live/stream/erasure-watch.service.js';
import { beginPacing, countDue, msUntilDue, refill, spend, type Pacing } from './pacing.js';
import type { ReplayChannel } from './replay-channel.js';
import { readReplayPage } from './replay-page.js';
import type { Replay } from './replay.entity.js';
import type { Progress, ReplaysRepository } from './replays.repository.js';

export interface ReplayParts {
  replays: ReplaysRepository;
  client: RequestClient;
  channel: ReplayChannel;
  failures: FailureLog;
  /** Detects events whose users were erased after the run read the events. */
  erasures: Pick<ErasureWatch, 'isErased'>;
}

// A run saves its progress twice a second, so that a canceled replay stops within a second. If the gateway dies, another gateway sends the
// events of the last half second again.
const saveEveryMs = 500;
const minBackoffMs = 250;
const maxBackoffMs = 2_000;

/**
 * A replay that runs in this process, started here or taken over.
 *
 * ```
 *              page is read
 *  reading ───────────────────▶ sending ──last page is sent──▶ done
 *    │ ▲ ▲                      │   ▲ │
 *    │ │ └────page is sent──────┘   │ │
 *    ▼ │                            │ ▼
 *  paused: the events service, NATS, or the database is unavailable
 *
 *  from every state: ended, if the replay was canceled or taken over (saving the progress shows this);
 *                    stopped, so that another gateway continues; failed, if retrying cannot help
 * ```
 */
export class ReplayRun {
  /** Events that have been read but not sent. */
  private waiting: StoredEvent[] = [];
  /** The event id after which the next page begins. Null before the first page and, once `outcome` is set, after the last page. */
  private next: string | null;
  /** How the replay ends when all waiting events are sent. Undefined while more pages must be read. */
  private outcome: { error: string | null } | undefined;
  private progress: Progress;
  private pacing: Pacing;
  private savedAt = -Infinity;

  constructor(
    readonly replay: Replay,
    private readonly gateway: string,
    private readonly parts: ReplayParts,
  ) {
    this.progress = { replayed: replay.replayed, position: replay.position };
    this.next = replay.position;
    this.pacing = beginPacing(replay.rate, performance.now());
  }

  /** Number of events handled, including those that earlier gateways handled. Includes erased events, which are not sent. */
  get replayed(): number {
    return this.progress.replayed;
  }

  /** Runs until the replay ends, another gateway takes it over, or the signal aborts. */
  async run(stopping: AbortSignal): Promise<void> {
    let backoffMs = minBackoffMs;
    while (!stopping.aborted) {
      try {
        const pauseMs = await this.step();
        if (pauseMs === undefined) return;
        backoffMs = minBackoffMs;
        if (pauseMs > 0) await pause(pauseMs, stopping);
      } catch (error) {
        this.takeFailure(toUnavailable(error));
        await pause(backoffMs, stopping);
        backoffMs = Math.min(2 * backoffMs, maxBackoffMs);
      }
    }
    // If saving fails, another gateway sends a few events again.
    await this.saveProgress().catch((error: unknown) => this.takeFailure(toUnavailable(error)));
  }

  /** Returns how many milliseconds to wait before the next step, or undefined at the end. */
  private async step(): Promise<number | undefined> {
    if (this.outcome && this.waiting.length === 0) return this.end(this.outcome.error);
    if (performance.now() >= this.savedAt + saveEveryMs && !(await this.saveProgress())) return undefined;
    return this.waiting.length > 0 ? this.send() : this.read();
  }

  /**
   * Ends the replay. Saves the progress first, so that the stored count includes the last events. A failed replay ends even if its progress
   * cannot be saved, because saving may be what failed.
   */
  private async end(error: string | null): Promise<undefined> {
    const { replays } = this.parts;
    const isOurs = await this.saveProgress().catch((failure: unknown) => {
      if (error === null) throw failure;
      this.takeFailure(toUnavailable(failure));
      return true;
    });
    if (isOurs) await replays.end(this.replay.id, this.gateway, error);
  }

  private async read(): Promise<number> {
    const { events, next } = await readReplayPage(this.parts.client, this.replay, this.next);
    this.waiting = events;
    this.next = next;
    if (next === null) this.outcome = { error: null };
    else if (events.length === 0) this.progress.position = next;
    return 0;
  }

  private async send(): Promise<number> {
    this.pacing = refill(this.pacing, performance.now());
    const batch = this.waiting.slice(0, countDue(this.pacing));
    const last = batch.at(-1);
    if (!last) return Math.min(msUntilDue(this.pacing), saveEveryMs);
    const { channel, erasures } = this.parts;
    const sent = batch.filter(({ id, eventData }) => !erasures.isErased(id, eventData));
    await channel.publish(sent, this.replay.connectionName);
    this.pacing = spend(this.pacing, batch.length);
    this.waiting = this.waiting.slice(batch.length);
    const { replayed } = this.progress;
    const isPageSent = this.waiting.length === 0;
    this.progress = {
      replayed: replayed + batch.length,
      position: isPageSent && this.next !== null ? this.next : last.id,
    };
    return 0;
  }

  /** Saves the progress. Returns false if the replay was canceled or another gateway has taken it over. */
  private async saveProgress(): Promise<boolean> {
    const begunAt = performance.now();
    const isOurs = await this.parts.replays.saveProgress(this.replay.id, this.gateway, this.progress);
    this.savedAt = begunAt;
    return isOurs;
  }

  private takeFailure(error: unknown): void {
    const isAway = error instanceof ServiceError && error.code === 'unavailable';
    const message = isAway
      ? 'cannot continue the replay, retrying'
      : 'replay failed, the remaining events will not be sent';
    this.parts.failures.warn(message, { err: error, replay: this.replay.id });
    if (isAway) return;
    this.waiting = [];
    this.outcome = { error: this.outcome?.error ?? describeFailure(error, 'replay') };
  }
}

/** Describes an error for the user who started the replay or the rehearsal. */
export function describeFailure(error: unknown, name: string): string {
  if (error instanceof ServiceError && error.code === 'internal')
    return `The ${name} failed unexpectedly. Search the gateway logs for the id of this ${name}.`;
  // `instanceof Error` would be false for Node's errors under Jest, because they come from another realm.
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}

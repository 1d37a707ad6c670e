import { ServiceError, type StoredEvent } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import type { RequestClient } from '@stream-events/messaging';
import { pause, type FailureLog } from '@stream-events/service';
import { beginPacing, countDue, msUntilDue, refill, spend, type Pacing } from './pacing.js';
import type { ReplayChannel } from './replay-channel.js';
import { readReplayPage } from './replay-page.js';
import type { Replay } from './replay.entity.js';
import type { Progress, ReplaysRepository } from './replays.repository.js';

/** What a run works with. */
export interface ReplayParts {
  replays: ReplaysRepository;
  client: RequestClient;
  channel: ReplayChannel;
  failures: FailureLog;
}

// A cancelled replay ends within a second, and what goes out in this time may go out twice when a gateway dies.
const noteEveryMs = 500;
const minBackoffMs = 250;
const maxBackoffMs = 2_000;

/**
 * A replay that runs in this process, begun here or taken over.
 *
 * ```
 *              page is read
 *  reading ───────────────────▶ sending ──last page is sent──▶ done
 *    │ ▲ ▲                      │   ▲ │
 *    │ │ └────page is sent──────┘   │ │
 *    ▼ │                            │ ▼
 *  paused: the events service, NATS or the database is away
 *
 *  from everywhere: ended, when it was cancelled or is another gateway's by now, which noting its progress says;
 *                   stopped, for another gateway to go on; failed, when no waiting helps
 * ```
 */
export class ReplayRun {
  /** Read, and not sent yet. */
  private waiting: StoredEvent[] = [];
  /** After which id the next page begins; null: the first page, or none once the outcome is known. */
  private next: string | null;
  /** How it ends once nothing waits; undefined while there is more to read. */
  private outcome: { error: string | null } | undefined;
  private progress: Progress;
  private pacing: Pacing;
  private notedAt = -Infinity;

  constructor(
    readonly replay: Replay,
    private readonly gateway: string,
    private readonly parts: ReplayParts,
  ) {
    this.progress = { replayed: replay.replayed, position: replay.position };
    this.next = replay.position;
    this.pacing = beginPacing(replay.rate, performance.now());
  }

  /** How many events went out; of one that was taken over, by those before too. */
  get replayed(): number {
    return this.progress.replayed;
  }

  /** Goes on until it has ended, is another gateway's, or the signal. */
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
    // Should this fail, a few events go out twice.
    await this.note().catch((error: unknown) => this.takeFailure(toUnavailable(error)));
  }

  /** Does what comes next; says how long to wait before the step after it, or undefined when there is none. */
  private async step(): Promise<number | undefined> {
    if (performance.now() >= this.notedAt + noteEveryMs && !(await this.note())) return undefined;
    if (this.waiting.length > 0) return this.send();
    if (!this.outcome) return this.read();
    // Noted once more: an end without the last events would be wrong.
    const { replays } = this.parts;
    if (await this.note()) await replays.end(this.replay.id, this.gateway, this.outcome.error);
    return undefined;
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
    if (!last) return Math.min(msUntilDue(this.pacing), noteEveryMs);
    await this.parts.channel.publish(batch, this.replay.connectionName);
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

  /** Notes how far it is; false when it was cancelled or is another gateway's. */
  private async note(): Promise<boolean> {
    const begunAt = performance.now();
    const isOurs = await this.parts.replays.note(this.replay.id, this.gateway, this.progress);
    this.notedAt = begunAt;
    return isOurs;
  }

  private takeFailure(error: unknown): void {
    const isAway = error instanceof ServiceError && error.code === 'unavailable';
    const message = isAway
      ? 'a replay waits for what it needs: it goes on by itself'
      : 'a replay has failed: what it has not sent yet stays unsent';
    this.parts.failures.warn(message, { err: error, replay: this.replay.id });
    if (isAway) return;
    this.waiting = [];
    this.outcome = { error: this.outcome?.error ?? describe(error) };
  }
}

function describe(error: unknown): string {
  // Without `instanceof Error`: below Jest, the errors of Node come from another realm.
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}

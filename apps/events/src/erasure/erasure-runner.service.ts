import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { erasureStages, type ErasureStage } from '@stream-events/contracts';
import { Lease } from '@stream-events/database';
import { LOGGER, pause, UserHasher, WorkerLoop, type Logger } from '@stream-events/service';
import { isUser } from '../store/erased-users.service.js';
import { ERASURE_STAGES } from './erasure-stages.js';
import type { SoughtUser, Stage } from './erasure-step.js';
import type { Erasure } from './erasure.entity.js';
import {
  erasureLease,
  ErasuresRepository,
  LeaseLostError,
  type RunningErasure,
} from './erasures.repository.js';

const idleMs = 1_000;
const maxBackoffMs = 30_000;
const maxRemembered = 10_000;
// A dry run changes nothing, so it does not need the stages that wait for other processes or delete summaries.
const skippedInDryRun: readonly ErasureStage[] = ['announcing', 'summaries', 'caches'];

/**
 * Runs erasures in the background, oldest first. Only one erasure runs at a time across all instances.
 *
 * ```
 * announcing ─▶ store ─▶ summaries ─▶ dead_letters ─▶ ingest ─▶ streamers ─▶ connector ─▶ gateway ─▶ event_stream ─▶ caches ─▶ done
 *      │
 *      └ each stage: small pieces of work, each recorded with the position where the stage continues
 *
 *  database, NATS, or another service unavailable: retries the same piece after 0.5 s … 30 s
 *  crash: another instance continues at the recorded position after up to 20 s, and repeats at most one piece
 * ```
 *
 * The order matters. Events are erased from the store before the EVENTS stream, because a relay can publish any event that is still in the
 * store. After `announcing`, no instance stores events that the erasure covers, so no stage has to run twice.
 */
@Injectable()
export class ErasureRunner {
  private readonly loop: WorkerLoop;
  private readonly stages: ReadonlyMap<ErasureStage, Stage>;

  constructor(
    private readonly erasures: ErasuresRepository,
    @Inject(ERASURE_STAGES) stages: readonly Stage[],
    private readonly hasher: UserHasher,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.stages = new Map(stages.map((stage) => [stage.name, stage]));
    this.loop = new WorkerLoop({
      work: (stopping) => this.runNext(stopping),
      idleMs,
      maxBackoffMs,
      onFailure: (err) => this.logger.warn({ err }, 'cannot claim or run an erasure, retrying within 30 s'),
    });
  }

  start(): void {
    this.loop.start();
  }

  /**
   * Waits up to 5 s for the current piece of work, and then stops. Another instance, or this one after a restart, continues the erasure.
   */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Runs the oldest unfinished erasure. Returns false when there is none, or when another instance is running it. */
  private async runNext(stopping: AbortSignal): Promise<boolean> {
    const holder = randomUUID();
    const erasure = await this.erasures.claim(holder);
    if (!erasure) return false;
    const lease = new Lease(erasureLease.seconds, () => this.erasures.renew(holder));
    try {
      await this.run(erasure, { stopping, lost: lease.lost });
    } catch (error) {
      // If this update fails too, the lease expires.
      await this.erasures.fail(holder, describe(error)).catch(() => undefined);
      throw error;
    } finally {
      lease.end();
      // If releasing the lease fails, the lease expires.
      if (stopping.aborted) await this.erasures.release(holder).catch(() => undefined);
    }
    return true;
  }

  private async run(
    claimed: RunningErasure,
    { stopping, lost }: { stopping: AbortSignal; lost: AbortSignal },
  ): Promise<void> {
    const { id, isDryRun } = claimed;
    const signal = AbortSignal.any([stopping, lost]);
    const holder = claimed.leasedBy ?? '';
    const user = this.seek(claimed);
    this.logger.info({ erasure: id, isDryRun, stage: claimed.stage }, 'running an erasure');
    let erasure: RunningErasure | undefined = claimed;
    while (erasure && !signal.aborted) {
      const stage = this.stages.get(erasure.stage);
      if (!stage) throw new Error(`the erasure ${id} is in the unknown stage ${erasure.stage}`);
      const step = await stage.run(erasure, user);
      const next = step.isComplete ? stageAfter(erasure) : erasure.stage;
      await this.erasures.advance(
        erasure,
        {
          stage: next,
          position: step.isComplete ? null : (step.position ?? erasure.position),
          progress: step.isComplete ? Number(next === 'done') : (step.progress ?? erasure.progress),
          counts: step.counts ?? erasure.counts,
        },
        step.apply,
      );
      if (next === 'done') {
        this.logger.info(
          { erasure: id, isDryRun, counts: step.counts ?? erasure.counts },
          'erasure completed',
        );
        return;
      }
      if (!step.isComplete) await pause(step.pauseMs ?? 0, signal);
      erasure = await this.erasures.readHeld(holder);
    }
    if (!erasure) throw new LeaseLostError(id);
    if (!stopping.aborted) lost.throwIfAborted();
  }

  /** If only the hash of the user's id is known, caches the result for each id, because hashing is slow and the same ids recur. */
  private seek({ platformUserId, userHash }: Erasure): SoughtUser {
    if (platformUserId !== null) return { id: platformUserId, isUser: (id) => id === platformUserId };
    const known = new Map<string, boolean>();
    return {
      id: null,
      isUser: (id) => {
        const found = known.get(id) ?? isUser({ platformUserId, userHash }, id, this.hasher);
        if (known.size >= maxRemembered) known.clear();
        known.set(id, found);
        return found;
      },
    };
  }
}

function stageAfter({ stage, isDryRun }: Erasure): ErasureStage {
  const later = erasureStages.slice(erasureStages.indexOf(stage) + 1);
  return later.find((name) => !isDryRun || !skippedInDryRun.includes(name)) ?? 'done';
}

function describe(error: unknown): string {
  // `instanceof Error` does not work here: under Jest, Node's errors come from another realm.
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}

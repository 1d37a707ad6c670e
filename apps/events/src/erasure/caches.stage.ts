import { Injectable } from '@nestjs/common';
import type { ErasureStep, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

// How long the stage waits. Gateways request the list of erased users every second and then need at most 1 s to remove the events, which
// leaves 2 s to spare.
const settledMs = 4_000;
const intervalMs = 250;

/**
 * Waits until the gateways have removed the user's events from memory. A gateway that cannot get the list of erased users during the wait
 * removes the events once it gets the list.
 */
@Injectable()
export class CachesStage implements Stage {
  readonly name = 'caches';

  run({ stageAgeMs }: RunningErasure): Promise<ErasureStep> {
    const progress = Math.min(1, stageAgeMs / settledMs);
    return Promise.resolve({ isComplete: stageAgeMs > settledMs, progress, pauseMs: intervalMs });
  }
}

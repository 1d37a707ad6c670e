import { Injectable } from '@nestjs/common';
import { StreamSummaries } from '../stream-summaries/stream-summaries.service.js';
import type { ErasureStep, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

/**
 * Deletes all saved summaries, because they may name the user among the top gifters and cheerers. They are computed again when they are
 * requested. Runs after the events have left the store: see `StreamSummaries.invalidate`.
 */
@Injectable()
export class SummariesStage implements Stage {
  readonly name = 'summaries';

  constructor(private readonly summaries: StreamSummaries) {}

  async run({ counts }: RunningErasure): Promise<ErasureStep> {
    if ((counts.events?.total ?? 0) > 0) await this.summaries.invalidate('all');
    return { isComplete: true };
  }
}

import { Injectable } from '@nestjs/common';
import { StreamSummaries } from '../stream-summaries/stream-summaries.service.js';
import type { ErasureStep, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

/**
 * Deletes all saved summaries if the erasure removed events from the store: the top gifters and cheerers may include the user. The service
 * recomputes a summary on request. Runs after the `store` stage; see `StreamSummaries.invalidate`.
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

import { Injectable } from '@nestjs/common';
import {
  toLimitConditions,
  type StreamSummaryMessage,
  type SummarizeStreamRequest,
} from '@stream-events/contracts';
import { ConcurrencyLimit } from '@stream-events/service';
import { ChannelChanges } from '../store/channel-changes.repository.js';
import type { Partition } from '../store/partitions.js';
import { KeptEvents } from './kept-events.js';
import { SavedSummaries, type SummaryKey } from './saved-summaries.repository.js';
import { maxReceiptGapMs, SummariesRepository } from './summaries.repository.js';
import type { SummaryPeriod } from './summary-period.js';

// A summary is saved only if the stream ended at least this long ago. Events of a stream's last seconds arrive after its end and would
// outdate an earlier summary at once.
export const saveAfterMs = 60_000;

// The summary of a large stream keeps one core and one connection busy. Computing more summaries at a time would slow down other requests.
const computingLimit = {
  running: 2,
  waiting: 32,
  refusal: 'Too many stream summaries are being computed. Retry after the time in `Retry-After`.',
};

/**
 * Summarizes streams, and saves the summaries of streams that ended at least a minute ago. Recomputes a summary when its input has changed:
 * the stream's times, late or erased events (see `ChannelChanges`), or the time from which retention has kept events.
 */
@Injectable()
export class StreamSummaries {
  /** Running and waiting computations. Requests for the same summary share one computation. */
  private readonly computing = new Map<string, Promise<StreamSummaryMessage>>();
  private readonly limit = new ConcurrencyLimit(computingLimit);

  constructor(
    private readonly summaries: SummariesRepository,
    private readonly saved: SavedSummaries,
    private readonly changes: ChannelChanges,
    private readonly kept: KeptEvents,
  ) {}

  /**
   * For a reader with limits, counts only events that the reader may see, and does not save the summary.
   *
   * @throws ServiceError `unavailable` when two summaries are being computed and 32 are waiting
   */
  async summarize(request: SummarizeStreamRequest): Promise<StreamSummaryMessage> {
    const { partitions, from } = await this.kept.read();
    const { streamId, startedAt, endedAt, limits } = request;
    const period = toPeriod(request, from);
    const isLimited = toLimitConditions(limits).length > 0;
    if (isLimited || endedAt === null || endedAt > Date.now() - saveAfterMs)
      return this.computeOnce(JSON.stringify([streamId, startedAt, endedAt, limits]), () =>
        this.summaries.compute(period, partitions, limits),
      );
    // Read the changes before the events; see `ChannelChanges`.
    const key = { streamId, ...period, changes: await this.changes.count(period) };
    const summary = await this.saved.find(key);
    return summary ?? this.computeOnce(JSON.stringify(key), () => this.computeAndSave(key, partitions));
  }

  /**
   * Deletes these channels' saved summaries. Call this after events have been erased: from then on, no summary that counts the erased
   * events is saved.
   *
   * @returns the number of deleted summaries
   */
  async invalidate(channelIds: readonly string[] | 'all'): Promise<number> {
    return this.saved.remove(channelIds);
  }

  /** Deletes summaries of streams whose events retention has removed, and the counts of changes to these events. */
  async removeOld(): Promise<void> {
    const { from } = await this.kept.read();
    if (from === null) return;
    while ((await this.saved.removeOld(from)) > 0);
    await this.changes.forget(from);
  }

  private async computeAndSave(
    key: SummaryKey,
    partitions: readonly Partition[],
  ): Promise<StreamSummaryMessage> {
    const summary = await this.summaries.compute(key, partitions, {});
    await this.saved.save(key, summary);
    return summary;
  }

  private async computeOnce(
    name: string,
    compute: () => Promise<StreamSummaryMessage>,
  ): Promise<StreamSummaryMessage> {
    const known = this.computing.get(name);
    if (known) return known;
    const computed = this.limit.run(compute);
    this.computing.set(name, computed);
    try {
      return await computed;
    } finally {
      this.computing.delete(name);
    }
  }
}

/** The period of a running stream ends in the future, so that events from clocks that are ahead also count. */
function toPeriod(
  { channelId, startedAt, endedAt }: SummarizeStreamRequest,
  oldest: number | null,
): SummaryPeriod {
  const keptFrom = oldest !== null && startedAt < oldest ? oldest : null;
  return { channelId, from: startedAt, to: endedAt ?? Date.now() + maxReceiptGapMs, keptFrom };
}

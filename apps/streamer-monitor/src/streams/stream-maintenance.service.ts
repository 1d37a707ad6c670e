import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { samplesKeptFor } from './stream-sample.entity.js';
import { isUnneededOffline } from './streams.repository.js';

const intervalMs = 10_000;
// How often to look for old data. Offline events stay for a week and samples for over a year, so an extra hour does not matter.
const forgetIntervalMs = 3_600_000;
// Maximum number of rows per statement; keeps each statement short.
const maxRows = 5_000;

/** Removes samples of deleted streams, old samples, and old offline events on which no stream's end depends. */
@Injectable()
export class StreamMaintenance {
  private readonly failureLog: FailureLog;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private forgottenAt = -Infinity;
  private isStopped = false;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
  }

  start(): void {
    this.timer = setInterval(() => {
      this.running ??= this.run().finally(() => {
        this.running = undefined;
      });
    }, intervalMs);
  }

  /** Waits for the current statement, and then stops. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  /** Removes everything that is due. */
  async run(): Promise<void> {
    await this.repeat('cannot remove the samples of deleted streams, retrying in 10 s', () =>
      this.removeSamples(),
    );
    if (performance.now() < this.forgottenAt + forgetIntervalMs) return;
    // Wait an hour even after a failure, because a statement that takes too long must not keep the database busy.
    this.forgottenAt = performance.now();
    await this.repeat('cannot remove old offline events, retrying in 1 h', () => this.forgetOfflineEvents());
    await this.repeat('cannot remove old samples, retrying in 1 h', () => this.forgetSamples());
  }

  /** Repeats a step until nothing is left to remove or the step fails. */
  private async repeat(failure: string, step: () => Promise<boolean>): Promise<void> {
    try {
      while (!this.isStopped && (await step()));
    } catch (error) {
      this.failureLog.warn(failure, { err: error });
    }
  }

  /**
   * Deletes a batch of unneeded offline events, and returns false when none are left. Only looks at events of the last 14 days, because
   * earlier runs have already checked the older ones.
   */
  private async forgetOfflineEvents(): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM offline_events WHERE id IN (
         SELECT id FROM offline_events AS old
         WHERE occurred_at >= now() - interval '14 days' AND ${isUnneededOffline} LIMIT ${maxRows}
       )`,
    );
    return count === maxRows;
  }

  /** Deletes a batch of old samples, and returns false when none are left. Streams keep their last title, category, and viewers. */
  private async forgetSamples(): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM stream_samples WHERE (stream, at) IN (
         SELECT stream, at FROM stream_samples WHERE at < now() - ${samplesKeptFor}
         -- The order makes the planner use the index even when stale statistics show many old samples.
         ORDER BY at LIMIT ${maxRows}
       )`,
    );
    return count === maxRows;
  }

  /** Deletes a batch of samples of deleted streams, and returns false when none are left. */
  private async removeSamples(): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM stream_samples USING (
         SELECT stream, at FROM removed_streams JOIN stream_samples ON stream = id AND at <= removed_at LIMIT ${maxRows}
       ) AS orphaned WHERE stream_samples.stream = orphaned.stream AND stream_samples.at = orphaned.at`,
    );
    if (count === maxRows) return true;
    await this.dataSource.query(
      `DELETE FROM removed_streams
       WHERE NOT EXISTS (SELECT FROM stream_samples WHERE stream = removed_streams.id AND at <= removed_at)`,
    );
    return false;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { lateOfflineMs } from './stream-facts.js';

const intervalMs = 10_000;
// Offline events are kept for a week and samples for over a year, so an extra hour does not matter.
const forgetIntervalMs = 3_600_000;
// About a year and a month, so that users can compare two streams a year apart. This is an SQL expression.
const samplesKeptFor = "interval '400 days'";
// Maximum number of rows per statement, so that each statement is short.
const maxRows = 5_000;

/** Removes the samples of deleted streams, old samples, and old offline events that no stream's end depends on. */
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

  /** Stops after the current statement. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  /** Removes all samples and offline events that are due for removal. */
  async run(): Promise<void> {
    try {
      while (!this.isStopped && (await this.removeSamples()));
      if (performance.now() < this.forgottenAt + forgetIntervalMs) return;
      while (!this.isStopped && (await this.forgetOfflineEvents()) === maxRows);
      while (!this.isStopped && (await this.forgetSamples()) === maxRows);
      this.forgottenAt = performance.now();
    } catch (error) {
      this.failureLog.warn('cannot remove old samples and offline events, retrying in 10 s', {
        err: error,
      });
    }
  }

  /**
   * Deletes offline events that are no longer needed. Resolving ends again needs every event that names a recorded stream, ends a stream,
   * or occurred so soon after a start that it may belong to the previous stream. Looks only at events that are 7 to 14 days old, because
   * older events were kept for one of these reasons.
   */
  private async forgetOfflineEvents(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM offline_events WHERE id IN (
         SELECT id FROM offline_events AS old
         WHERE occurred_at BETWEEN now() - interval '14 days' AND now() - interval '7 days' AND NOT EXISTS (
           SELECT FROM streams WHERE streams.streamer_id = old.streamer_id
             AND (streams.stream_id = old.stream_id OR streams.ended_at = old.occurred_at
               OR old.occurred_at - streams.started_at BETWEEN interval '0' AND interval '${lateOfflineMs} milliseconds')
         ) LIMIT ${maxRows}
       )`,
    );
    return count;
  }

  /** Deletes old samples. Streams keep their last title, category, and viewers. */
  private async forgetSamples(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM stream_samples WHERE (stream, at) IN (
         SELECT stream, at FROM stream_samples WHERE at < now() - ${samplesKeptFor} LIMIT ${maxRows}
       )`,
    );
    return count;
  }

  /** Removes a batch of samples of deleted streams. Returns false when none are left. */
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

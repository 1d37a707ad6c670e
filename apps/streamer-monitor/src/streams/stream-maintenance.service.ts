import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { lateWordMs } from './stream-facts.js';

const intervalMs = 10_000;
// An hour more or less of what is kept for a week is nothing.
const forgetIntervalMs = 3_600_000;
// A statement on so many rows is short.
const maxRows = 5_000;

/** Removes what nobody needs any more: samples of streams that are gone, and offline events by which nothing is decided. */
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

  /** Finishes the statement in hand. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.running;
  }

  /** Removes everything there is to remove. */
  async run(): Promise<void> {
    try {
      while (!this.isStopped && (await this.removeSamples()));
      if (performance.now() < this.forgottenAt + forgetIntervalMs) return;
      while (!this.isStopped && (await this.forgetOfflineEvents()) === maxRows);
      this.forgottenAt = performance.now();
    } catch (error) {
      this.failureLog.warn('old samples and events could not be removed: tried again in ten seconds', {
        err: error,
      });
    }
  }

  /**
   * An event that names a stream, by which one ends, or which came so soon after a start that it may be about the former stream, is
   * needed whenever the ends are found again. Only a week of them is looked at: what is older was kept for such a reason.
   */
  private async forgetOfflineEvents(): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM offline_events WHERE id IN (
         SELECT id FROM offline_events AS old
         WHERE occurred_at BETWEEN now() - interval '14 days' AND now() - interval '7 days' AND NOT EXISTS (
           SELECT FROM streams WHERE streams.streamer_id = old.streamer_id
             AND (streams.stream_id = old.stream_id OR streams.ended_at = old.occurred_at
               OR old.occurred_at - streams.started_at BETWEEN interval '0' AND interval '${lateWordMs} milliseconds')
         ) LIMIT ${maxRows}
       )`,
    );
    return count;
  }

  /** Removes some samples of streams that are gone; false when there are none left. */
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

import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { RebuildReply } from '@stream-events/contracts';
import { within } from '@stream-events/messaging';
import { LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { RebuildsRepository } from './rebuilds.repository.js';
import { StreamRebuilder } from './stream-rebuilder.service.js';

// As many read the log at once: more would be felt by those who list events.
const concurrency = 4;
// Noted after so many, well within the lease.
const pageSize = 20;
// The events service may be away for a moment; for longer, whoever asked for the rebuild shall know.
const tries = 4;
const retryAfterMs = 1_000;
// A streamer takes some milliseconds.
const stopLimitMs = 3_000;

class RebuildStoppedError extends Error {}

/** Rebuilds the streams of all streamers from the event log, one rebuild at a time. */
@Injectable()
export class RebuildService {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly rebuilds: RebuildsRepository,
    private readonly rebuilder: StreamRebuilder,
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Begins one, unless one is running. */
  async start(): Promise<RebuildReply> {
    const id = await this.rebuilds.begin();
    if (id !== undefined) this.running = this.run(id);
    return this.rebuilds.readLatest();
  }

  read(): Promise<RebuildReply> {
    return this.rebuilds.readLatest();
  }

  /** Gives up the one that runs here; it can be started again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.running);
  }

  private async run(id: string): Promise<void> {
    try {
      const progress = await this.rebuildAll(id);
      await this.rebuilds.end(id, null);
      this.logger.info(progress, 'streams rebuilt from the event log');
    } catch (error) {
      this.logger.warn({ err: error }, 'streams could not be rebuilt: the rebuild can be started again');
      const reason = error instanceof Error ? error.message : String(error);
      // Should this fail as well, its lease runs out.
      await this.rebuilds.end(id, reason).catch(() => undefined);
    }
  }

  private async rebuildAll(id: string) {
    const progress = { streamersDone: 0, streamersTotal: 0, streamsChanged: 0 };
    let after: string | undefined;
    for (;;) {
      const page = await this.readPage(after);
      if (page.length === 0) return progress;
      for (let start = 0; start < page.length; start += concurrency) {
        const few = page.slice(start, start + concurrency);
        const changed = await Promise.all(few.map(({ platformId }) => this.rebuildOne(platformId)));
        progress.streamsChanged += changed.reduce((sum, count) => sum + count, 0);
        progress.streamersDone += few.length;
      }
      if (!(await this.rebuilds.note(id, progress)))
        throw new RebuildStoppedError('it took too long to answer, and was given up');
      after = page.at(-1)?.id;
    }
  }

  private async readPage(after: string | undefined): Promise<{ id: string; platformId: string }[]> {
    return this.dataSource.query(
      `SELECT id, platform_id AS "platformId" FROM streamers
       WHERE NOT disabled AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT ${pageSize}`,
      [after ?? null],
    );
  }

  private async rebuildOne(platformId: string): Promise<number> {
    for (let failures = 0; ;) {
      if (this.stopping.signal.aborted) throw new RebuildStoppedError('the service is stopping');
      try {
        return await this.rebuilder.rebuild(platformId);
      } catch (error) {
        failures += 1;
        if (failures === tries) throw error;
        // Cut short by stop(), which the next turn sees.
        await wait(retryAfterMs * failures, undefined, { signal: this.stopping.signal }).catch(
          () => undefined,
        );
      }
    }
  }
}

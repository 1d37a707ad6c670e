import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { RebuildReply } from '@stream-events/contracts';
import { Lease } from '@stream-events/database';
import { LOGGER, within, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { rebuildLease, RebuildsRepository } from './rebuilds.repository.js';
import { StreamRebuilder } from './stream-rebuilder.service.js';

// How many streamers a rebuild processes at a time. More reads of the event log would slow down event lists.
const concurrency = 4;
// Streamers per page. The rebuild saves its progress after each page.
const pageSize = 20;
// Four attempts, 1, 2, and 3 s apart, outlast a restart of the events service. After a longer outage, the rebuild fails.
const maxTries = 4;
const retryAfterMs = 1_000;
// How long `stop` waits for the current streamers, which normally take well under a second each.
const stopLimitMs = 3_000;
const leaseLost = 'the rebuild lost its lease';

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

  /** Starts a rebuild unless one is running, and returns the latest rebuild. */
  async start(): Promise<RebuildReply> {
    const holder = randomUUID();
    if (await this.rebuilds.begin(holder)) this.running = this.run(holder);
    return this.rebuilds.readLatest();
  }

  read(): Promise<RebuildReply> {
    return this.rebuilds.readLatest();
  }

  /** Waits up to 3 s for this process to stop its rebuild, which then fails. An owner can start it again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await within(stopLimitMs, this.running);
  }

  private async run(holder: string): Promise<void> {
    const lease = new Lease(rebuildLease.seconds, () => this.rebuilds.renew(holder));
    try {
      const progress = await this.rebuildAll(holder, lease.lost);
      if (!(await this.rebuilds.end(holder, null))) throw new RebuildStoppedError(leaseLost);
      this.logger.info(progress, 'rebuilt streams from the event log');
    } catch (error) {
      this.logger.error(
        { err: error },
        'cannot rebuild streams from the event log, giving up. Start the rebuild again with POST /api/v1/streamers/rebuild',
      );
      const reason = error instanceof Error ? error.message : String(error);
      // If recording the failure fails too, the lease expires and the rebuild counts as abandoned.
      await this.rebuilds.end(holder, reason).catch(() => false);
    } finally {
      lease.end();
    }
  }

  private async rebuildAll(holder: string, lost: AbortSignal) {
    const progress = { streamersDone: 0, streamersTotal: 0, streamsChanged: 0 };
    let after: string | undefined;
    for (;;) {
      const page = await this.readPage(after);
      if (page.length === 0) return progress;
      for (let start = 0; start < page.length; start += concurrency) {
        const batch = page.slice(start, start + concurrency);
        const changed = await Promise.all(batch.map(({ platformId }) => this.rebuildOne(platformId, lost)));
        progress.streamsChanged += changed.reduce((sum, count) => sum + count, 0);
        progress.streamersDone += batch.length;
      }
      await this.rebuilds.saveProgress(holder, progress);
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

  private async rebuildOne(platformId: string, lost: AbortSignal): Promise<number> {
    for (let failures = 0; ;) {
      if (this.stopping.signal.aborted)
        throw new RebuildStoppedError('the service stopped during the rebuild');
      if (lost.aborted) throw new RebuildStoppedError(leaseLost);
      try {
        return await this.rebuilder.rebuild(platformId);
      } catch (error) {
        failures += 1;
        if (failures === maxTries) throw error;
        // `stop` cuts the pause short, and the loop then sees the signal.
        await wait(retryAfterMs * failures, undefined, { signal: this.stopping.signal }).catch(
          () => undefined,
        );
      }
    }
  }
}

import { Injectable } from '@nestjs/common';
import {
  createStreamer,
  deleteStreamer,
  eraseStreamer,
  maxMonitoredPage,
  ServiceError,
  updateStreamer,
  type CreateStreamerRequest,
  type EraseStreamerReply,
  type UpdateStreamerRequest,
} from '@stream-events/contracts';
import { violatedConstraint } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { usernameRefreshIntervalMs } from '../polling/poll-interval.js';
import { StreamRecorder } from '../streams/stream-recorder.service.js';
import { Streamer } from './streamer.entity.js';
import { SubscriptionHint } from './subscription-hint.js';
import { UserLookUp } from './user-look-up.js';

// Time reserved for the reply, because the service must not store anything after the caller has timed out.
const replyMs = 250;
/** Maximum page size: a reply is one message of at most 1 MiB. */
export const maxStreamersPage = 1_000;

const lowestId = '00000000-0000-0000-0000-000000000000';

@Injectable()
export class StreamersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UserLookUp,
    private readonly recorder: StreamRecorder,
    private readonly hint: SubscriptionHint,
  ) {}

  /** Returns one page, oldest first. `next` is the cursor of the next page, or null at the end. */
  async list(after = lowestId): Promise<{ streamers: Streamer[]; next: string | null }> {
    const rows = await this.dataSource
      .createQueryBuilder(Streamer, 'streamer')
      .where('streamer.id > :after', { after })
      .orderBy('streamer.id')
      .limit(maxStreamersPage + 1)
      .getMany();
    return toPage(rows, maxStreamersPage);
  }

  /** Returns one page of enabled streamers, oldest first. `next` is the cursor of the next page, or null at the end. */
  async listMonitored(
    after = lowestId,
  ): Promise<{ streamers: Pick<Streamer, 'id' | 'platformId'>[]; next: string | null }> {
    const rows = await this.dataSource
      .createQueryBuilder(Streamer, 'streamer')
      .select(['streamer.id', 'streamer.platformId'])
      .where('streamer.id > :after AND NOT streamer.disabled', { after })
      .orderBy('streamer.id')
      .limit(maxMonitoredPage + 1)
      .getMany();
    return toPage(rows, maxMonitoredPage);
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<Streamer> {
    const streamer = await this.dataSource.manager.findOneBy(Streamer, { id });
    if (!streamer) throw notFound(id);
    return streamer;
  }

  /**
   * Starts to monitor a user of the platform.
   *
   * @throws ServiceError `invalid` when no user has the name, `conflict` when the user is already monitored, `unavailable` when the
   * platform or the database does not respond in time (nothing is stored in this case)
   */
  async create(request: CreateStreamerRequest): Promise<Streamer> {
    const deadline = performance.now() + createStreamer.timeoutMs - replyMs;
    const { id: platformId } = await this.users.findByName(request.platformUsername);
    const now = new Date();
    const streamer = await this.changeBefore(deadline, async (transaction) => {
      const created = transaction.create(Streamer, {
        ...request,
        id: uuidV7(),
        platformId,
        namedAt: now,
        isStreamingKnown: false,
        createdAt: now,
        updatedAt: now,
        polledAt: null,
        absentSince: null,
        nextPollAt: now,
        nextNamingAt: new Date(now.getTime() + usernameRefreshIntervalMs),
      });
      await transaction.insert(Streamer, created);
      return created;
    }).catch((error: unknown) => {
      if (violatedConstraint(error) !== 'streamers_platform_id_unique') throw error;
      throw new ServiceError('conflict', `Streamer "${request.platformUsername}" is already monitored.`);
    });
    this.hint.send();
    return streamer;
  }

  /**
   * Calls the platform only if the username changes in more than case.
   *
   * @throws ServiceError `not_found`; `invalid` when another user or no user has the name; `unavailable` when the platform or the database
   * does not respond in time (nothing is changed in this case)
   */
  async update(request: UpdateStreamerRequest): Promise<Streamer> {
    const deadline = performance.now() + updateStreamer.timeoutMs - replyMs;
    const { id, platformUsername } = request;
    const known = await this.get(id);
    if (platformUsername !== undefined && !isSameName(platformUsername, known.platformUsername))
      await this.confirmName(platformUsername, known);
    const { before, after } = await this.changeBefore(deadline, (transaction) =>
      this.applyUpdate(transaction, request),
    );
    if (before.disabled !== after.disabled) this.hint.send();
    return after;
  }

  /**
   * Deletes a streamer and its streams. `StreamMaintenance` later removes the samples in batches, because a stream can have very many.
   *
   * @throws ServiceError `not_found`; `unavailable` when the database does not respond in time (nothing is deleted in this case)
   */
  async delete(id: string): Promise<void> {
    const { platformId } = await this.remove(id, performance.now() + deleteStreamer.timeoutMs - replyMs);
    this.hint.sendDeleted(platformId);
  }

  /**
   * For an erasure, deletes the streamer with this platform id. Also deletes the event types chosen for the user, even if the user is no
   * longer monitored. A dry run only counts. Returns how many streamers, streams, and samples it found.
   *
   * @throws ServiceError `unavailable` when the connector or the database does not respond in time
   */
  async erase(platformUserId: string, isDryRun: boolean): Promise<EraseStreamerReply> {
    const deadline = performance.now() + eraseStreamer.timeoutMs - replyMs;
    // Delete the chosen types first: if a later step fails, a retry still finds and counts the streamer. Until the streamer is deleted, the
    // connector subscribes to all active types for it.
    if (!isDryRun) await this.hint.forgetChoice(platformUserId);
    const streamer = await this.dataSource.manager.findOneBy(Streamer, { platformId: platformUserId });
    if (!streamer) return { streamers: 0, streams: 0, streamSamples: 0 };
    const [found] = await this.dataSource.query<Omit<EraseStreamerReply, 'streamers'>[]>(
      `SELECT count(*)::int AS streams, coalesce(sum(
         (SELECT count(*) FROM stream_samples WHERE stream = streams.id)
       ), 0)::int AS "streamSamples" FROM streams WHERE streamer_id = $1`,
      [streamer.id],
    );
    if (!isDryRun) {
      await this.remove(streamer.id, deadline).catch((error: unknown) => {
        // The streamer may have been deleted since it was read.
        if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
      });
      this.hint.send();
    }
    return { streamers: 1, streams: found?.streams ?? 0, streamSamples: found?.streamSamples ?? 0 };
  }

  private async remove(id: string, deadline: number): Promise<Streamer> {
    return this.changeBefore(deadline, async (transaction) => {
      const streamer = await lock(transaction, id);
      await transaction.query('DELETE FROM offline_events WHERE streamer_id = $1', [id]);
      // `removed_at` must not precede the last sample, whose time comes from the connector's clock, which may be ahead.
      await transaction.query(
        `WITH removed AS (DELETE FROM streams WHERE streamer_id = $1 RETURNING id)
         INSERT INTO removed_streams (id, removed_at)
         SELECT id, greatest(now(), (SELECT max(at) FROM stream_samples WHERE stream = removed.id)) FROM removed
         ON CONFLICT (id) DO UPDATE SET removed_at = excluded.removed_at`,
        [id],
      );
      await transaction.delete(Streamer, { id });
      return streamer;
    });
  }

  private async confirmName(platformUsername: string, streamer: Streamer): Promise<void> {
    const user = await this.users.findByName(platformUsername);
    if (user.id === streamer.platformId) return;
    throw ServiceError.onField(
      'platform_username',
      `"${platformUsername}" is the name of another user of the platform. To monitor that user, add a streamer.`,
    );
  }

  private async applyUpdate(
    transaction: EntityManager,
    { id, platformUsername, streaming, disabled }: UpdateStreamerRequest,
  ): Promise<{ before: Streamer; after: Streamer }> {
    const before = await lock(transaction, id);
    const isSwitched = disabled !== undefined && disabled !== before.disabled;
    if (isSwitched && disabled) await this.recorder.endRunning(transaction, id);
    // Enabling or disabling makes the known state stale, so reset it to that of a new streamer, which is due for a poll at once.
    const unknown = {
      streaming: false,
      isStreamingKnown: false,
      polledAt: null,
      absentSince: null,
      nextPollAt: new Date(),
    };
    const after: Streamer = { ...before, ...(isSwitched && { disabled, ...unknown }) };
    if (platformUsername !== undefined) {
      if (!isSameName(platformUsername, before.platformUsername)) after.namedAt = new Date();
      after.platformUsername = platformUsername;
    }
    if (streaming !== undefined && !after.isStreamingKnown) after.streaming = streaming;
    if (isChanged(before, after)) after.updatedAt = new Date();
    await transaction.update(Streamer, { id }, after);
    return { before, after };
  }

  /**
   * Runs a transaction, and rolls it back if the deadline has passed.
   *
   * @throws ServiceError `unavailable` after the deadline
   */
  private async changeBefore<T>(
    deadline: number,
    change: (transaction: EntityManager) => Promise<T>,
  ): Promise<T> {
    return this.dataSource.transaction(async (transaction) => {
      const remainingMs = Math.floor(deadline - performance.now());
      if (remainingMs < 1) throw tooLate();
      await transaction.query(`SELECT set_config('statement_timeout', $1, true)`, [String(remainingMs)]);
      const result = await change(transaction);
      if (performance.now() > deadline) throw tooLate();
      return result;
    });
  }
}

async function lock(transaction: EntityManager, id: string): Promise<Streamer> {
  const streamer = await transaction.findOne(Streamer, {
    where: { id },
    lock: { mode: 'pessimistic_write' },
  });
  if (!streamer) throw notFound(id);
  return streamer;
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isChanged(before: Streamer, after: Streamer): boolean {
  return (
    before.platformUsername !== after.platformUsername ||
    before.streaming !== after.streaming ||
    before.disabled !== after.disabled
  );
}

function toPage(rows: Streamer[], size: number): { streamers: Streamer[]; next: string | null } {
  const streamers = rows.slice(0, size);
  return { streamers, next: rows.length > size ? (streamers.at(-1)?.id ?? null) : null };
}

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', `Streamer ${id} does not exist.`);
}

function tooLate(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The platform or the database did not respond in time. Nothing was changed. Try again.',
  );
}

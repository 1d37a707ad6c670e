import { Inject, Injectable } from '@nestjs/common';
import { lookUpUsers, type PlatformUserMessage } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { MonitoredStreamersRepository, rename } from '../streams/monitored-streamers.repository.js';
import type { Milliseconds } from '../streams/stream-facts.js';
import { ClaimsRepository, type Claim } from './claims.repository.js';

const idleMs = 5_000;
const maxBackoffMs = 60_000;

/** Looks the names of all streamers up by their ids every quarter of an hour: who is seldom live may be renamed unseen. */
@Injectable()
export class UsernameRefresh {
  private readonly loop: WorkerLoop;

  constructor(
    private readonly claims: ClaimsRepository,
    private readonly client: RequestClient,
    private readonly dataSource: DataSource,
    private readonly streamers: MonitoredStreamersRepository,
    @Inject(LOGGER) logger: Logger,
  ) {
    const failureLog = new FailureLog(logger);
    const onFailure = (err: unknown): void =>
      failureLog.warn('names of streamers could not be looked up: it is tried again', { err });
    this.loop = new WorkerLoop({ work: () => this.checkBatch(), idleMs, maxBackoffMs, onFailure });
  }

  start(): void {
    this.loop.start();
  }

  /** Finishes the batch in hand, which takes 4 s at most. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Looks up one batch; false when nobody is due. */
  async checkBatch(): Promise<boolean> {
    const claim = await this.claims.claimNames();
    if (claim.streamers.length === 0) return false;
    try {
      const askedAt = Date.now();
      await this.applyNames(claim, askedAt, await this.lookUp(claim));
    } catch (error) {
      // Should this fail as well, the names are looked up the next time.
      await this.claims.releaseNames(claim).catch(() => undefined);
      throw error;
    }
    return true;
  }

  private async lookUp({ streamers }: Claim): Promise<PlatformUserMessage[]> {
    const ids = streamers.map(({ platformId }) => platformId);
    return (await this.client.request(lookUpUsers, { ids, logins: [], priority: 'background' })).users;
  }

  /** Who is missing has left the platform, and keeps the last name. */
  private async applyNames(
    { streamers }: Claim,
    askedAt: Milliseconds,
    users: readonly PlatformUserMessage[],
  ): Promise<void> {
    const loginOf = new Map(users.map(({ id, login }) => [id, login]));
    await this.dataSource.transaction(async (transaction) => {
      const locked = await this.streamers.lock(
        transaction,
        streamers.map(({ id }) => id),
      );
      for (const streamer of locked) {
        const renamed = rename(streamer, loginOf.get(streamer.platformId) ?? '', askedAt);
        if (renamed === streamer) continue;
        await this.streamers.save(transaction, renamed, { isVisible: true, nextPoll: undefined });
      }
    });
  }
}

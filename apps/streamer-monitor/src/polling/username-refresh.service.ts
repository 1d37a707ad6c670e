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

/** Looks up the usernames of all enabled streamers by id every 15 minutes. Otherwise a rename would go unnoticed until the next stream. */
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
      failureLog.warn('cannot look up usernames, retrying within about 1 min', { err });
    this.loop = new WorkerLoop({ work: () => this.checkBatch(), idleMs, maxBackoffMs, onFailure });
  }

  start(): void {
    this.loop.start();
  }

  /** Waits up to 5 s for the current batch, and then stops. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Looks up one batch and saves changed usernames. Returns false when no streamer is due. */
  async checkBatch(): Promise<boolean> {
    const claim = await this.claims.claimUsernames();
    if (claim.streamers.length === 0) return false;
    try {
      const askedAt = Date.now();
      await this.applyUsernames(claim, askedAt, await this.lookUp(claim));
    } catch (error) {
      // If this fails too, the next lookup is due when the claim expires.
      await this.claims.releaseUsernames(claim).catch(() => undefined);
      throw error;
    }
    return true;
  }

  private async lookUp({ streamers }: Claim): Promise<PlatformUserMessage[]> {
    const ids = streamers.map(({ platformId }) => platformId);
    return (await this.client.request(lookUpUsers, { ids, logins: [], priority: 'background' })).users;
  }

  /** Saves changed usernames. A user missing from the reply has left the platform and keeps the last username. */
  private async applyUsernames(
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

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  findNamedUsers,
  listErasedUsers,
  receivedAt,
  type ErasedUserMessage,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { CONFIG, FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import type { GatewayConfig } from '../../gateway.config.js';
import { EventFeed } from './event-feed.service.js';
import { EventHistory } from './event-history.service.js';
import { ReceivedUserHasher } from './received-user-hasher.js';

// How often this process asks for erasures. The events service waits for four times this interval before it ends an erasure.
const intervalMs = 1_000;
// Maximum pause before the next request after a failure.
const maxBackoffMs = 2_000;
// Each request also asks for erasures that ended up to this long before the last reply, in case one was committed late.
const overlapMs = 60_000;
// Number of events to check per event-loop turn. This takes a few milliseconds, so live delivery does not stall.
const sliceLength = 250;

/**
 * Removes the events of erased users from this process's memory: deletes them from the ring buffer, and drops all cached pages of older
 * events. Asks the events service for erasures every second. Removes the events when it first sees an erasure, and again when the store and
 * the streams no longer contain them, because this process may have read some of them again in between.
 */
@Injectable()
export class ErasureWatch {
  private readonly loop: WorkerLoop;
  private readonly failures: FailureLog;
  /** Users whose erasure this process has seen since it started, by id of the erasure. */
  private readonly users = new Map<string, ErasedUserMessage>();
  private readonly hasher: ReceivedUserHasher;
  private endedSince: number | undefined;

  constructor(
    private readonly client: RequestClient,
    private readonly feed: EventFeed,
    private readonly history: EventHistory,
    @Inject(CONFIG) config: Pick<GatewayConfig, 'SECRET_KEY'>,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.hasher = new ReceivedUserHasher(config.SECRET_KEY);
    this.failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: () => this.look(),
      idleMs: intervalMs,
      maxBackoffMs,
      onFailure: (err) => this.failures.warn('cannot request the list of erased users, retrying', { err }),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Whether an erasure that this process has seen covers an event. This process sees all erasures that are unfinished when it starts, and
   * all later ones.
   *
   * @param text the event's data or its record
   */
  isErased(id: string, text: string): boolean {
    return this.users.size > 0 && this.isCovered([...this.users.values()], id, text);
  }

  private async look(): Promise<boolean> {
    const { endedSince } = this;
    const reply = await this.client.request(listErasedUsers, endedSince === undefined ? {} : { endedSince });
    this.hasher.receive(reply.hashKey);
    const news = reply.users.filter(({ id, isGone }) => this.users.get(id)?.isGone !== isGone);
    for (const user of news) this.users.set(user.id, user);
    if (news.length > 0) await this.removeFromMemory(news);
    this.endedSince = reply.now - overlapMs;
    return false;
  }

  private async removeFromMemory(users: readonly ErasedUserMessage[]): Promise<void> {
    const { ringBuffer } = this.feed;
    let from = ringBuffer?.firstSequence ?? 0;
    const sequences = new Set<number>();
    for (;;) {
      const slice = ringBuffer?.slice(from, sliceLength) ?? [];
      for (const { id, record, sequence } of slice)
        if (this.isCovered(users, id, record)) sequences.add(sequence);
      const last = slice.at(-1);
      if (!last) break;
      from = last.sequence + 1;
      await nextTurn();
    }
    ringBuffer?.remove(sequences);
    this.history.forget();
  }

  /** An erasure covers only the user's events that were received until its time. Later events of the user stay. */
  private isCovered(users: readonly ErasedUserMessage[], id: string, text: string | Buffer): boolean {
    const hashes = new Set(
      users.filter(({ until }) => receivedAt(id) <= until).map(({ userHash }) => userHash),
    );
    if (hashes.size === 0) return false;
    return findNamedUsers(text.toString()).some(({ id: userId }) => hashes.has(this.hasher.hash(userId)));
  }
}

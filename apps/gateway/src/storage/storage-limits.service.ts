import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import {
  CONFIG,
  FailureLog,
  LOGGER,
  Registry,
  WorkerLoop,
  type Counter,
  type Logger,
} from '@stream-events/service';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../access/caller.js';
import type { GatewayConfig } from '../gateway.config.js';
import { EventsStreamClient } from '../live/stream/events-stream-client.js';
import { mebibyte, StorageBudgets, StorageLimitError } from './storage-budgets.js';
import { StoredBytesRepository } from './stored-bytes.repository.js';
import { gatewayMetrics } from '../metrics.js';

// How often a gateway writes its counts and reads the counts of all gateways. Until the next sync, a user can exceed a limit by storing
// events through several gateways.
const syncMs = 1_000;
// How often a gateway reads the counts of all gateways while it has nothing to write.
const idleReadMs = 10_000;
// How often a gateway reads the counts of earlier days and the stream's limits. Both rarely change.
const earlierMs = 60_000;

/**
 * Limits how much clients store: each user per day, and all users together on the EVENTS stream. Each gateway counts in memory and updates
 * the database once a second, so that counting an event needs no SQL statement.
 */
@Injectable()
export class StorageLimits implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly budgets: StorageBudgets | undefined;
  private readonly refusedTotal: Counter<'limit'>;
  private readonly failures: FailureLog;
  private readonly loop: WorkerLoop;
  private readAt = -Infinity;
  private readEarlierAt = -Infinity;
  private earlierDay: string | undefined;

  constructor(
    private readonly repository: StoredBytesRepository,
    @Inject(EventsStreamClient) private readonly stream: Pick<EventsStreamClient, 'findLimits'>,
    @Inject(CONFIG) { MAX_STORED_MB_PER_DAY: perDay }: Pick<GatewayConfig, 'MAX_STORED_MB_PER_DAY'>,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    this.failures = new FailureLog(logger);
    if (perDay > 0) this.budgets = new StorageBudgets(perDay * mebibyte);
    this.refusedTotal = gatewayMetrics.gateway_storage_refusals_total.create(metrics);
    this.measureShare(metrics);
    this.loop = new WorkerLoop({
      work: async () => {
        await this.sync();
        return false;
      },
      idleMs: syncMs,
      maxBackoffMs: 10_000,
      onFailure: (err) =>
        this.failures.warn('cannot save or read the storage use of users, retrying within 10 s', { err }),
    });
  }

  onApplicationBootstrap(): void {
    if (this.budgets) this.loop.start();
  }

  async onModuleDestroy(): Promise<void> {
    if (!this.budgets) return;
    await this.loop.stop();
    try {
      await this.write(this.budgets);
    } catch (err) {
      this.failures.warn('cannot save the storage use of users at shutdown, losing unsaved counts', { err });
    }
  }

  /**
   * Counts requests that create records (`StoresData`). Add this hook after those of `AccessControl`, which must admit the request first.
   */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, _reply, done) => {
      const caller = callerOf(request);
      const bytes = request.routeOptions.config.storedBytes ?? 0;
      if (caller && bytes > 0) this.take(caller.id, bytes);
      done();
    });
  }

  /**
   * Counts an event of a user. Call the returned function to subtract the event again if it was not stored.
   *
   * @throws StorageLimitError
   */
  take(userId: string, bytes: number): () => void {
    if (!this.budgets) return () => undefined;
    try {
      return this.budgets.take(userId, bytes);
    } catch (error) {
      if (error instanceof StorageLimitError) this.refusedTotal.inc({ limit: error.limit });
      throw error;
    }
  }

  /** Writes this gateway's counts and reads those of all gateways. */
  async sync(): Promise<void> {
    const { budgets } = this;
    if (!budgets) return;
    const { today } = budgets.days;
    if (budgets.hasCounted || performance.now() >= this.readAt + idleReadMs) {
      await this.write(budgets);
      budgets.learnToday(today, await this.repository.readDay(today));
      this.readAt = performance.now();
    }
    if (today !== this.earlierDay || performance.now() >= this.readEarlierAt + earlierMs)
      await this.readEarlier(budgets);
  }

  private async write(budgets: StorageBudgets): Promise<void> {
    if (!budgets.hasCounted) return;
    const added = budgets.flush();
    try {
      await this.repository.add(added);
    } catch (error) {
      budgets.restore(added);
      throw error;
    }
  }

  private async readEarlier(budgets: StorageBudgets): Promise<void> {
    const limits = await this.stream.findLimits();
    // Without a stream, there is nothing to protect. The next sync looks for the stream again.
    if (!limits) return;
    budgets.learnStream(limits.maxBytes > 0 ? limits : undefined);
    const { today, first } = budgets.days;
    await this.repository.prune(first);
    budgets.learnEarlier(today, await this.repository.readDays(first, today));
    this.earlierDay = today;
    this.readEarlierAt = performance.now();
  }

  private measureShare(metrics: Registry): void {
    const { budgets } = this;
    gatewayMetrics.gateway_client_share_used_ratio.create(metrics, (gauge) =>
      gauge.set(budgets?.share === undefined ? 0 : budgets.total / budgets.share),
    );
  }
}

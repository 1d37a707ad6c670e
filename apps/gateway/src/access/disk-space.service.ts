import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import {
  Alarms,
  CONFIG,
  FailureLog,
  LOGGER,
  Registry,
  WorkerLoop,
  type Logger,
} from '@stream-events/service';
import type { FastifyInstance } from 'fastify';
import type { GatewayConfig } from '../gateway.config.js';
import { gatewayMetrics } from '../metrics.js';

type DiskConfig = Pick<GatewayConfig, 'MIN_FREE_DISK_MB' | 'DATA_DIR'>;

const mebibyte = 1024 ** 2;
// How often to check the free space. At 100 MiB/s, 200 MiB are written between two checks: a fifth of the default minimum.
const checkMs = 2_000;
// After space was low, accept writes only when 1.1 times the minimum is free. Otherwise, the state would flip at every small write.
const recoveryFactor = 1.1;
// `Retry-After` of rejected writes. Long, because retries usually fail until an operator frees space.
const retryAfterSeconds = 60;

/**
 * Watches the free space on the disk of DATA_DIR, which contains the data of PostgreSQL and nats-server. While space is low, rejects
 * requests to routes with `StoresData`. Platform messages can then use the rest of the space, and the operator has time to act before both
 * servers stop. Checks nothing without DATA_DIR, or if MIN_FREE_DISK_MB is 0.
 */
@Injectable()
export class DiskSpace implements OnApplicationBootstrap, OnModuleDestroy {
  private isLow = false;
  private freeBytes = NaN;
  private readonly minBytes: number;
  private readonly loop: WorkerLoop;

  constructor(
    @Inject(CONFIG) private readonly config: DiskConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
    private readonly alarms: Alarms,
  ) {
    const failures = new FailureLog(logger);
    this.minBytes = config.MIN_FREE_DISK_MB * mebibyte;
    this.loop = new WorkerLoop({
      work: async () => {
        await this.check();
        return false;
      },
      idleMs: checkMs,
      maxBackoffMs: checkMs,
      onFailure: (err) =>
        failures.warn('cannot read the free disk space of DATA_DIR, retrying', {
          err,
          directory: config.DATA_DIR,
        }),
    });
    this.measure(metrics);
  }

  onApplicationBootstrap(): void {
    if (this.minBytes > 0 && this.config.DATA_DIR) this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Rejects requests that store client data while space is low. Add this hook after those of `AccessControl`, which must admit the request
   * first.
   */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, _reply, done) => {
      if (request.routeOptions.config.storesData) this.refuseWhenLow();
      done();
    });
  }

  /** @throws ServiceError `unavailable` while space is low */
  refuseWhenLow(): void {
    if (!this.isLow) return;
    throw new ServiceError(
      'unavailable',
      `The disk of the service has less than ${this.config.MIN_FREE_DISK_MB} MiB of free space (MIN_FREE_DISK_MB). The service rejects new events, new rehearsals and named tokens, and new or changed scopes, API endpoints, and streamers, until more space is free. Retry after the time in \`Retry-After\`.`,
      { retryAfterSeconds },
    );
  }

  /** Checks the free space. When the state changes, logs it and raises or clears the alarm. */
  async check(): Promise<void> {
    const { DATA_DIR: directory, MIN_FREE_DISK_MB: minMegabytes } = this.config;
    if (directory === undefined) return;
    // `bavail` excludes the blocks reserved for root, which PostgreSQL and nats-server cannot use.
    const { bavail, bsize } = await statfs(directory);
    this.freeBytes = bavail * bsize;
    const wasLow = this.isLow;
    this.isLow = this.freeBytes < this.minBytes * (wasLow ? recoveryFactor : 1);
    if (this.isLow === wasLow) return;
    this.report();
    const details = { directory, freeMegabytes: Math.floor(this.freeBytes / mebibyte), minMegabytes };
    if (this.isLow) this.logger.warn(details, 'disk space is low, rejecting client writes');
    else this.logger.warn(details, 'disk space is sufficient again, accepting client writes');
  }

  private report(): void {
    const key = `disk_low:${hostname()}` as const;
    if (!this.isLow) return this.alarms.clear(key);
    this.alarms.raise(
      key,
      `The disk of DATA_DIR on ${hostname()} has less than ${this.config.MIN_FREE_DISK_MB} MiB of free space (MIN_FREE_DISK_MB), so the gateway rejects client writes. Enlarge the disk, or free space: see "When disk space runs low" in docs/alerts.md.`,
    );
  }

  private measure(metrics: Registry): void {
    gatewayMetrics.gateway_disk_free_bytes.create(metrics, (gauge) => gauge.set(this.freeBytes));
    gatewayMetrics.gateway_disk_low.create(metrics, (gauge) => gauge.set(this.isLow ? 1 : 0));
  }
}

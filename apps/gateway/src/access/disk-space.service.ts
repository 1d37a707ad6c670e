import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import {
  Alarms,
  CONFIG,
  FailureLog,
  Gauge,
  LOGGER,
  Registry,
  WorkerLoop,
  type Logger,
} from '@stream-events/service';
import type { FastifyInstance } from 'fastify';
import type { GatewayConfig } from '../gateway.config.js';

type DiskConfig = Pick<GatewayConfig, 'MIN_FREE_DISK_MB' | 'DATA_DIR'>;

const mebibyte = 1024 ** 2;
// At 100 MiB/s, a disk loses 200 MiB in this time.
const checkMs = 2_000;
// Clients may store again only when free space exceeds the minimum by this factor, so that the new space is not used up immediately.
const recoveryFactor = 1.1;
// An operator has to act, so clients need not ask often.
const retryAfterSeconds = 60;

/**
 * Watches the free space of the disk that the servers store on. When it runs low, the gateway rejects what clients store, so that the
 * rest is left for platform messages, and the operator has time to act before PostgreSQL and nats-server stop.
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

  /** Refuses requests that store data of a client while the free space is low, after `AccessControl` has admitted them. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, _reply, done) => {
      if (request.routeOptions.config.storesData) this.refuseWhenLow();
      done();
    });
  }

  /** @throws ServiceError `unavailable` while the free space is low */
  refuseWhenLow(): void {
    if (!this.isLow) return;
    throw new ServiceError(
      'unavailable',
      `The disk of the service has less than ${this.config.MIN_FREE_DISK_MB} MiB of free space (MIN_FREE_DISK_MB). The service rejects new events, scopes, endpoint definitions, and streamers until there is more. Retry after the time in \`Retry-After\`.`,
      { retryAfterSeconds },
    );
  }

  /** Reads the free space. */
  async check(): Promise<void> {
    const { DATA_DIR: directory, MIN_FREE_DISK_MB: minMegabytes } = this.config;
    if (directory === undefined) return;
    // bavail: what a process without root's reserve can use, as PostgreSQL and nats-server.
    const { bavail, bsize } = await statfs(directory);
    this.freeBytes = bavail * bsize;
    const wasLow = this.isLow;
    this.isLow = this.freeBytes < this.minBytes * (wasLow ? recoveryFactor : 1);
    if (this.isLow === wasLow) return;
    this.report();
    const details = { directory, freeMegabytes: Math.floor(this.freeBytes / mebibyte), minMegabytes };
    if (this.isLow) this.logger.warn(details, 'disk space is low, rejecting the writes of clients');
    else this.logger.warn(details, 'disk space is sufficient again, accepting the writes of clients');
  }

  private report(): void {
    const key = `disk_low:${hostname()}` as const;
    if (!this.isLow) return this.alarms.clear(key);
    this.alarms.raise(
      key,
      `The disk of DATA_DIR on ${hostname()} has less than ${this.config.MIN_FREE_DISK_MB} MiB of free space (MIN_FREE_DISK_MB), and clients cannot store anything. Free space by lowering RETENTION_DAYS, or enlarge the disk.`,
    );
  }

  private measure(metrics: Registry): void {
    const countFree = (): number => this.freeBytes;
    const isLow = (): boolean => this.isLow;
    new Gauge({
      name: 'gateway_disk_free_bytes',
      help: 'Free space on the disk of DATA_DIR; NaN when the gateway checks no disk',
      registers: [metrics],
      collect() {
        this.set(countFree());
      },
    });
    new Gauge({
      name: 'gateway_disk_low',
      help: '1 while the free disk space is below MIN_FREE_DISK_MB and the gateway rejects what clients store; otherwise 0',
      registers: [metrics],
      collect() {
        this.set(isLow() ? 1 : 0);
      },
    });
  }
}

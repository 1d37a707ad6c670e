import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { isContentError } from '@stream-events/database';
import { generateId } from '@stream-events/ingest';
import {
  FailureLog,
  LOGGER,
  pause,
  Registry,
  within,
  type Counter,
  type Logger,
} from '@stream-events/service';
import type { Actor } from '../access/caller.js';
import type { AuditAction } from './audit-actions.js';
import type { AuditEntry } from './audit-entry.entity.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { FailedLoginLimit } from './failed-login-limit.js';
import { RepeatedEntries } from './repeated-entries.js';
import { gatewayMetrics } from '../metrics.js';

/** An action that has succeeded or may have succeeded, or a login that has failed. */
export interface AuditedAction {
  action: AuditAction;
  by: Actor;
  objectId: string | null;
  /** A UUIDv7. Set it if several gateways record the same action, so that only one entry is stored. Default: a new id. */
  id?: string;
}

// Maximum number of waiting entries. Enough for hours of ordinary use while the database is unavailable. They take about 5 MiB.
const maxWaiting = 10_000;
const maxBatch = 500;
const minBackoffMs = 250;
const maxBackoffMs = 5_000;
// Maximum time for which a stopping gateway tries to write the waiting entries. Short, because the rest of the shutdown waits. A working
// database stores a batch within milliseconds.
const stopLimitMs = 3_000;
const foldedIntervalMs = 60_000;
// Addresses are cut to this length. IP addresses are shorter, but a faulty proxy can pass on any text.
const maxAddressLength = 64;

/**
 * Writes the audit log in the background, so that requests do not wait for the database.
 *
 * ```
 * record ──▶ waiting ──batch──▶ audit_log
 *              │  ▲      │ database unavailable: 0.25 s … 5 s later
 *              │  └──────┘
 *              └ 10,000 wait, the database rejects the entry, or the service stops: counted, and logged as an error with the entry
 * ```
 *
 * Entries reach the table within milliseconds, and the counts of repeated actions within a minute. A crash (`kill -9`, power failure)
 * loses those that are still waiting.
 */
@Injectable()
export class AuditLog implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly waiting: AuditEntry[] = [];
  private readonly failedLogins = new FailedLoginLimit();
  private readonly repeated = new RepeatedEntries();
  private readonly stopping = new AbortController();
  private readonly failureLog: FailureLog;
  private readonly lostTotal: Counter;
  private writing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly repository: AuditLogRepository,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.lostTotal = gatewayMetrics.gateway_audit_entries_lost_total.create(metrics);
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => this.recordFolded(), foldedIntervalMs);
  }

  /** After the last request has ended, writes the waiting entries for at most 3 s. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.recordFolded();
    await within(stopLimitMs, this.flushed());
    this.stopping.abort();
    await this.flushed();
    this.lose(this.waiting.splice(0), stopped());
  }

  /** Queues an entry. Only counts a repeated action of a user, and a failed login above the limit. Never throws. */
  record({ action, by, objectId, id = generateId() }: AuditedAction): void {
    const address = by.address?.slice(0, maxAddressLength) ?? null;
    const entry = { id, action, userId: by.id, username: by.username, objectId, address, count: 1 };
    if (this.repeated.fold(entry)) return;
    if (action === 'user.login_failed' && !this.failedLogins.admit()) return;
    this.repeated.remember(entry);
    this.add(entry);
  }

  /**
   * Waits for another service's reply to an action, then records the action. If the request fails, records the action only if the service
   * may have carried it out.
   *
   * @param toAction describes the action. Called without a reply if the request failed. Returns undefined for an action that needs no entry
   */
  async recordReply<Reply>(
    reply: Promise<Reply>,
    toAction: (reply?: Reply) => AuditedAction | undefined,
  ): Promise<Reply> {
    let action: AuditedAction | undefined;
    try {
      const received = await reply;
      action = toAction(received);
      return received;
    } catch (error) {
      if (mayBeCarriedOut(error)) action = toAction();
      throw error;
    } finally {
      if (action) this.record(action);
    }
  }

  /** Resolves when no entry is waiting, or when the service stops writing. */
  async flushed(): Promise<void> {
    await this.writing;
  }

  /** Writes an entry for the actions that were only counted since the last call. */
  private recordFolded(): void {
    for (const entry of this.repeated.takeAll()) this.add({ ...entry, id: generateId() });
    const count = this.failedLogins.takeSuppressed();
    if (count === 0) return;
    const nobody = { userId: null, username: null, objectId: null, address: null };
    this.add({ id: generateId(), action: 'user.login_failed', ...nobody, count });
  }

  private add(entry: AuditEntry): void {
    if (this.stopping.signal.aborted) return this.lose([entry], stopped());
    if (this.waiting.length >= maxWaiting)
      return this.lose([entry], new Error('too many audit log entries are waiting'));
    this.waiting.push(entry);
    this.writing ??= this.write().finally(() => {
      this.writing = undefined;
    });
  }

  private async write(): Promise<void> {
    let backoffMs = minBackoffMs;
    let batchSize = maxBatch;
    while (this.waiting.length > 0 && !this.stopping.signal.aborted) {
      const batch = this.waiting.slice(0, batchSize);
      try {
        await this.repository.add(batch);
        this.waiting.splice(0, batch.length);
        backoffMs = minBackoffMs;
        batchSize = Math.min(2 * batchSize, maxBatch);
      } catch (err) {
        if (isContentError(err)) {
          // Halve the batch to find the entry that the database rejects. Drop this entry instead of retrying it: all later entries would
          // wait behind it.
          if (batch.length === 1) this.lose(this.waiting.splice(0, 1), err);
          batchSize = Math.ceil(batch.length / 2);
          continue;
        }
        this.failureLog.warn('cannot write the audit log, retrying', { err, waiting: this.waiting.length });
        await pause(backoffMs, this.stopping.signal);
        backoffMs = Math.min(2 * backoffMs, maxBackoffMs);
      }
    }
  }

  private lose(entries: readonly AuditEntry[], err: unknown): void {
    this.lostTotal.inc(entries.length);
    for (const entry of entries)
      this.logger.error(
        { err, entry },
        'cannot write an entry to the audit log. Keep this line: it has the only copy',
      );
  }
}

function mayBeCarriedOut(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.isUncertain || error.code === 'internal';
}

function stopped(): Error {
  return new Error('the service stopped before it could write the entry');
}

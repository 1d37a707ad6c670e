import { randomUUID } from 'node:crypto';
import {
  pause,
  perRegistry,
  WorkerLoop,
  type Gauge,
  type Logger,
  type Registry,
  type SecretBox,
} from '@stream-events/service';
import type { DataSource } from 'typeorm';
import { EncryptedValues, type EncryptedColumn, type EncryptedCounts } from './encrypted-columns.js';
import { encryptionLease } from './encryption-key.entity.js';
import { Lease } from './lease.js';
import { MoveProgress } from './move-progress.js';
import { databaseMetrics } from './metrics.js';

export interface KeyRotationOptions {
  /** The schema of the service. */
  schema: string;
  columns: readonly EncryptedColumn[];
  dataSource: DataSource;
  box: SecretBox;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics?: Registry;
  /** Time between two passes in milliseconds; default: one minute. */
  idleMs?: number;
  /** Time between two log lines about the progress in milliseconds; default: 10 s. */
  progressMs?: number;
}

// Within about this time, a value that an instance with the old order of keys has written moves to the first key.
const defaultIdleMs = 60_000;
const maxBackoffMs = 60_000;

const gaugeOf = perRegistry((registry) => databaseMetrics.encrypted_values.create(registry));

/**
 * Re-encrypts a service's values with the first key of `SECRET_KEY`, in the background, while the service uses them.
 *
 * ```
 *  SECRET_KEY   [old] ──▶ [old,new] ──▶ [new,old] ─────────────▶ [new]
 *                          can decrypt   encrypts with new,      refuses to start
 *                                        moves the rest to it    while a value needs old
 * ```
 *
 * One instance at a time moves values, and only to the most recent first key, because instances from two neighboring steps can run side by
 * side. If a value changes during its move, the new value stays.
 */
export class KeyRotation {
  private readonly values: readonly EncryptedValues[];
  private readonly gauge: Gauge<'schema' | 'key'> | undefined;
  private readonly loop: WorkerLoop;
  private readonly holder = randomUUID();
  /** What was logged last, so that the next pass does not log it again. */
  private reportedEnd: number | undefined;
  private readonly reportedUnknown = new Map<string, number>();

  constructor(private readonly options: KeyRotationOptions) {
    const { dataSource, box, columns, metrics, logger } = options;
    this.values = columns.map((column) => new EncryptedValues(dataSource, column, box));
    this.gauge = metrics && gaugeOf(metrics);
    this.loop = new WorkerLoop({
      work: (stopping) => this.work(stopping),
      idleMs: options.idleMs ?? defaultIdleMs,
      maxBackoffMs,
      onFailure: (err) => logger.warn({ err }, 'cannot re-encrypt stored values, retrying'),
    });
  }

  /**
   * Checks the values like `check`, records the first key, and starts moving values to the first key.
   *
   * @throws Error that says how many values in which table need a missing key
   */
  async start(): Promise<void> {
    // Check first: the number of a mistyped key would keep the services with the right keys from moving values.
    this.show(await this.check());
    await this.registerKey();
    // A single key leaves nothing to move.
    if (this.options.box.keyCount > 1) this.loop.start();
  }

  /**
   * Checks that `SECRET_KEY` decrypts every value, except for values that the service can replace.
   *
   * @throws Error that says how many values in which table need a missing key
   */
  async check(): Promise<EncryptedCounts> {
    const total: EncryptedCounts = { first: 0, older: 0, unknown: 0 };
    for (const values of this.values) {
      const counts = await readAll(values);
      add(total, counts);
      if (counts.unknown > 0) throw missingKey(this.nameOf(values), counts);
    }
    return total;
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Moves all values in one call; for a command that runs while the services are stopped. Returns how many values the first key encrypts
   * now.
   *
   * @throws Error when a value needs a missing key
   */
  async runOnce(): Promise<number> {
    await this.check();
    await this.registerKey();
    let total = 0;
    for (const values of this.values) {
      const visit = { signal: new AbortController().signal, onBatch: () => Promise.resolve() };
      const counts = await readAll(values, visit);
      if (counts.unknown > 0) throw missingKey(this.nameOf(values), counts);
      total += counts.first;
    }
    return total;
  }

  private async registerKey(): Promise<void> {
    const { dataSource, box } = this.options;
    await dataSource.query('INSERT INTO encryption_keys (id) VALUES ($1) ON CONFLICT DO NOTHING', [
      box.firstKeyId,
    ]);
  }

  private async work(stopping: AbortSignal): Promise<boolean> {
    if (!(await this.takeLease())) {
      // Export no counts here: another instance exports them, or this one has the old order of keys.
      this.hide();
      return false;
    }
    const lease = new Lease(encryptionLease.seconds, () => this.update(encryptionLease.renewal));
    try {
      const signal = AbortSignal.any([stopping, lease.lost]);
      const counts = await this.pass(signal);
      // Values that changed during the pass may still be encrypted with an older key, so start another pass at once.
      return counts.older > 0 && !signal.aborted;
    } finally {
      lease.end();
      // If this update fails, the lease expires.
      await this.update(encryptionLease.release).catch(() => undefined);
    }
  }

  /** Returns false when another instance holds the lease, or when the first key of this instance is not the most recent one. */
  private async takeLease(): Promise<boolean> {
    const { dataSource, box } = this.options;
    const [, count] = await dataSource.query<[unknown, number]>(
      `UPDATE encryption_keys SET ${encryptionLease.take('$1')}
       WHERE id = $2 AND number = (SELECT max(number) FROM encryption_keys) AND ${encryptionLease.isExpired}`,
      [this.holder, box.firstKeyId],
    );
    return count > 0;
  }

  private async update(assignment: string): Promise<boolean> {
    const [, count] = await this.options.dataSource.query<[unknown, number]>(
      `UPDATE encryption_keys SET ${assignment} WHERE ${encryptionLease.isHeldBy('$1')}`,
      [this.holder],
    );
    return count > 0;
  }

  /** Visits every value once, and moves those of older keys. */
  private async pass(signal: AbortSignal): Promise<EncryptedCounts> {
    const total: EncryptedCounts = { first: 0, older: 0, unknown: 0 };
    for (const values of this.values) {
      const progress = new MoveProgress(this.options, this.nameOf(values));
      const counts = await readAll(values, {
        signal,
        onBatch: (moved, visited) => {
          if (moved > 0) this.reportedEnd = undefined;
          return progress.note(values, moved, visited);
        },
      });
      add(total, counts);
      this.reportUnknown(this.nameOf(values), counts);
    }
    this.show(total);
    if (!signal.aborted) this.reportEnd(total);
    return total;
  }

  private reportEnd({ first, older, unknown }: EncryptedCounts): void {
    if (older > 0 || unknown > 0 || first === this.reportedEnd) return;
    this.reportedEnd = first;
    const { schema, logger } = this.options;
    logger.info(
      { schema, values: first },
      `all ${first} encrypted values in the schema ${schema} now use the first key of SECRET_KEY. Before you remove an older key, see "Rotate SECRET_KEY" in docs/security.md`,
    );
  }

  private reportUnknown(table: string, counts: EncryptedCounts): void {
    const reported = this.reportedUnknown.get(table) ?? 0;
    this.reportedUnknown.set(table, counts.unknown);
    if (counts.unknown === 0 || counts.unknown === reported) return;
    this.options.logger.error({ table, values: counts.unknown }, missingKey(table, counts).message);
  }

  private show(counts: EncryptedCounts): void {
    const { schema } = this.options;
    for (const [key, count] of Object.entries(counts)) this.gauge?.set({ schema, key }, Number(count));
  }

  private hide(): void {
    const { schema } = this.options;
    for (const key of ['first', 'older', 'unknown']) this.gauge?.remove({ schema, key });
  }

  private nameOf({ column }: EncryptedValues): string {
    return `${this.options.schema}.${column.table}`;
  }
}

interface Visit {
  signal: AbortSignal;
  onBatch: (moved: number, visited: number) => Promise<void>;
}

/** Counts a column's values by key. With `visit`, also moves values, and after each batch pauses for as long as the batch took. */
async function readAll(values: EncryptedValues, visit?: Visit): Promise<EncryptedCounts> {
  const total: EncryptedCounts = { first: 0, older: 0, unknown: 0 };
  let after: string | undefined;
  while (!visit?.signal.aborted) {
    const startedAt = performance.now();
    const batch = await values.next(after, visit !== undefined);
    if (!batch) break;
    after = batch.last;
    const { first, older, unknown } = batch.counts;
    add(total, { first, older, unknown: values.column.isReplaceable ? 0 : unknown });
    await visit?.onBatch(batch.moved, first + older + unknown);
    if (visit) await pause(performance.now() - startedAt, visit.signal);
  }
  return total;
}

function add(total: EncryptedCounts, counts: EncryptedCounts): void {
  total.first += counts.first;
  total.older += counts.older;
  total.unknown += counts.unknown;
}

function missingKey(table: string, { first, older, unknown }: EncryptedCounts): Error {
  return new Error(
    `SECRET_KEY lacks a key that is still needed: no key in it decrypts ${unknown} of the ${first + older + unknown} values in ${table}. ` +
      'Add the missing key at the end of SECRET_KEY and start again. If the key is lost, see "A SECRET_KEY is lost" in docs/security.md',
  );
}

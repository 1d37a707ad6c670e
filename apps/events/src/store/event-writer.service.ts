import { Injectable } from '@nestjs/common';
import { type EventWithColumns, type NewEvent, type StoreOutcome } from '@stream-events/contracts';
import { isConflictError, isContentError, sqlState, violatedConstraint } from '@stream-events/database';
import { Registry } from '@stream-events/service';
import { DeadLettersRepository, ExpiredEventError } from './dead-letters.repository.js';
import { Relay } from '../relay/relay.service.js';
import { EventsRepository, type BatchPart } from './events.repository.js';
import { PartitionsRepository } from './partitions.repository.js';
import { StoreMetrics } from './store-metrics.js';
import { toRow, type EventRow, type WrittenBatch } from './write-batch.js';

// Maximum number of attempts after deadlocks or serialization failures. The second attempt usually succeeds, so further failures have
// another cause.
const maxAttempts = 5;

type Outcomes = Map<string, StoreOutcome>;

/**
 * Stores batches of events. Each event is stored, recognized as already known, or kept as a dead letter. A rejected event does not affect
 * the rest of its batch.
 *
 * ```
 * batch ── write ──ok──▶ stored | known ──▶ relay
 *   │        │ rejected because of its content
 *   │        ├─ more than one event ──▶ write each half on its own
 *   │        └─ one event ────────────▶ dead letter
 *   ├─ raids of the platform ──▶ write them on their own (see `writeRaids`)
 *   └ received before the retention period: known, or dead letter (retention would silently remove a stored event within a minute)
 * ```
 */
@Injectable()
export class EventWriter {
  private readonly metrics: StoreMetrics;

  constructor(
    private readonly events: EventsRepository,
    private readonly partitions: PartitionsRepository,
    private readonly relay: Relay,
    private readonly deadLetters: DeadLettersRepository,
    registry: Registry,
  ) {
    this.metrics = new StoreMetrics(registry);
  }

  /**
   * Stores events and returns their outcomes in the same order. Idempotent by message key (see `receivedMessageKey`): storing a batch again
   * gives the same outcomes.
   *
   * @throws the database's error when it is unavailable; committed events stay stored, and a retry recognizes them
   */
  async store(events: readonly EventWithColumns[]): Promise<StoreOutcome[]> {
    const startedAt = performance.now();
    const outcomes = await this.storeOrDeadLetter(events);
    this.metrics.noteBatch(events, outcomes, startedAt);
    return outcomes;
  }

  /** Adds a dead letter without trying to store the event. */
  async keepAsDeadLetter(event: NewEvent, fault: unknown): Promise<void> {
    await this.deadLetters.add(toRow(event), fault);
  }

  /**
   * Stores the event of a retried dead letter and returns its outcome. Leaves out `events_ingest_total`, which counted the event when it
   * first arrived.
   */
  async storeAgain(event: NewEvent): Promise<StoreOutcome> {
    const [outcome] = await this.storeOrDeadLetter([event]);
    if (!outcome) throw new Error(`no outcome for event ${event.id}`);
    return outcome;
  }

  private async storeOrDeadLetter(events: readonly EventWithColumns[]): Promise<StoreOutcome[]> {
    const rows = events.map(toRow);
    const firstByKey = new Map<string, EventRow>();
    for (const row of rows) if (!firstByKey.has(row.key)) firstByKey.set(row.key, row);
    const sorted = [...firstByKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));

    const outcomes: Outcomes = new Map();
    const expired = await this.partitions.findExpired(sorted.map((row) => row.id));
    if (expired.size > 0) {
      await this.keepExpired(
        sorted.filter((row) => expired.has(row.id)),
        outcomes,
      );
    }
    const current = expired.size === 0 ? sorted : sorted.filter((row) => !expired.has(row.id));
    for (const part of this.events.split(current)) await this.writeOrBisect(part, outcomes);
    return rows.map((row) => outcomeOf(row, firstByKey, outcomes));
  }

  /**
   * Turns expired events into dead letters, unless their messages are already known. An event is this old only if the receiver's clock is
   * wrong, or if the event waited on the INGEST stream or as a dead letter.
   */
  private async keepExpired(rows: readonly EventRow[], outcomes: Outcomes): Promise<void> {
    // Record events of erased users as received, so that the next query counts them as known.
    await this.events.withoutErased(rows);
    const firstIds = await this.events.findReceived(rows.map((row) => row.key));
    for (const row of rows) {
      const known = firstIds.get(row.key);
      const id = known ?? (await this.deadLetters.add(row, new ExpiredEventError(row.id)));
      if (known === undefined) outcomes.set(row.key, { id, outcome: 'dead_lettered' });
      else outcomes.set(row.key, { id, outcome: id === row.id ? 'stored' : 'known' });
    }
  }

  private async writeOrBisect(part: BatchPart, outcomes: Outcomes): Promise<void> {
    try {
      await this.write(part, outcomes);
    } catch (error) {
      if (!isContentError(error)) throw error;
      const { rows } = part;
      const [only, ...others] = rows;
      if (only && others.length === 0) {
        outcomes.set(only.key, { id: await this.deadLetters.add(only, error), outcome: 'dead_lettered' });
        return;
      }
      const middle = rows.length >> 1;
      await this.writeOrBisect({ ...part, rows: rows.slice(0, middle) }, outcomes);
      await this.writeOrBisect({ ...part, rows: rows.slice(middle) }, outcomes);
    }
  }

  private async write(part: BatchPart, outcomes: Outcomes): Promise<void> {
    const { rows } = part;
    const written = await this.writeWithRetries(part);
    if (written.outboxId !== null) {
      this.relay.publish({ outboxId: written.outboxId, events: written.stored });
    }
    // In nearly every batch, all events are new.
    if (written.stored === rows) {
      for (const row of rows) outcomes.set(row.key, { id: row.id, outcome: 'stored' });
      return;
    }
    const stored = new Set(written.stored);
    const known = rows.filter((row) => !stored.has(row));
    const firstIds = await this.events.findReceived(known.map((row) => row.key));
    for (const row of rows) {
      const id = stored.has(row) ? row.id : firstIds.get(row.key);
      // If the first id is the event's own, an earlier attempt stored this event.
      if (id !== undefined) outcomes.set(row.key, { id, outcome: id === row.id ? 'stored' : 'known' });
    }
    // The write found these keys, but they expired (after 25 hours) before `findReceived`. Write the events again, as new ones.
    const forgotten = rows.filter((row) => !outcomes.has(row.key));
    if (forgotten.length > 0) await this.write({ ...part, rows: forgotten }, outcomes);
  }

  private async writeWithRetries(part: BatchPart): Promise<WrittenBatch> {
    let hasMadePartitions = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.events.write(part);
      } catch (error) {
        if (isMissingPartition(error) && !hasMadePartitions) {
          await this.partitions.ensureFor(part.rows.map((row) => row.id));
          hasMadePartitions = true;
        } else if (!isConflictError(error) || attempt >= maxAttempts) {
          throw error;
        }
      }
    }
  }
}

function outcomeOf(row: EventRow, firstByKey: Map<string, EventRow>, outcomes: Outcomes): StoreOutcome {
  const first = outcomes.get(row.key);
  if (!first) throw new Error(`no outcome for event ${row.id}`);
  const isRepeated = firstByKey.get(row.key) !== row && first.outcome === 'stored';
  return isRepeated ? { id: first.id, outcome: 'known' } : first;
}

/**
 * Whether a row had no partition: PostgreSQL then reports a check violation without a constraint name. The error text depends on the
 * server's language, so it cannot be used.
 */
function isMissingPartition(error: unknown): boolean {
  return sqlState(error) === '23514' && violatedConstraint(error) === undefined;
}

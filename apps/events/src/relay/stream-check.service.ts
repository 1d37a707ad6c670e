import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, Registry, startAtZero, type Counter, type Logger } from '@stream-events/service';
import { DoubtfulStateError, EventsStream, type StreamState } from './events-stream.js';
import { StreamRecordRepository, type EpochChange, type ReadRetained } from './stream-record.repository.js';
import { judgeStream, type LossReason, type StreamRecord, type Verdict } from './stream-verdict.js';
import { eventsMetrics } from '../metrics.js';

/** A batch that the stream has acknowledged to this instance, so the stream must contain it. */
export interface Witness {
  epoch: string;
  eventIds: readonly string[];
  lastSequence: number;
}

interface Inspection {
  verdict: Verdict;
  known: StreamRecord;
  found: StreamState | undefined;
}

/** Consecutive checks have found batches missing, but the leader that answered may be outdated. All times are from a monotonic clock. */
interface DoubtfulLoss {
  /**
   * Batches that the first of these checks found missing. Later checks look for the events themselves: by then, other instances may have
   * raised the last sequence, which therefore proves nothing.
   */
  evidence: readonly Witness[];
  /** Start of the first check that found the leader in touch with its replicas; undefined while the leader is out of touch. */
  inTouchSince: number | undefined;
  seenAt: number;
}

interface Decision {
  epoch: string;
  change: EpochChange | undefined;
  loss: { previousEpoch: string; reason: LossReason } | undefined;
}

// How long the leader must be in touch with its replicas before the check accepts a loss. A replaced leader notices its replacement within
// this time.
const inTouchMs = 3_000;
// Maximum pause between two checks that count as consecutive. While in doubt, a check starts at most 2 s after the previous one ends.
const maxPauseMs = 4_000;
// Maximum number of missing batches that later checks look for. Each check reads one message of up to 256 KiB per batch from the broker. A
// few batches are enough, because either all missing batches are lost or none is.
const maxEvidence = 10;
// How long checks skip the deletion of safe batches after a failure. Each failed deletion can take up to its time limit of 10 s.
const forgetPauseMs = 60_000;
// The largest bigint: above every outbox id.
const maxOutboxId = '9223372036854775807';
// How much earlier than the stream's last message a missing event may have been received: clocks differ, and batches wait in the outbox.
const missingMarginMs = 5 * 60_000;

/**
 * Compares the EVENTS stream with the events that it has acknowledged, and repairs losses. The store is the source of truth, so relays
 * publish lost events again, under a new epoch. The stream can lose events by a power failure, by a deletion, or by a restored backup.
 * JetStream acknowledges up to 2 minutes before it writes to disk.
 *
 * ```
 * 1 compare (see judgeStream) ──intact──▶ forget batches that can no longer be lost
 *   │ not intact
 *   ▼
 * 2 lock the record, compare again (instances take turns; the second one finds the work done) ──intact──▶ done
 *   │ a stream with replicas, whose old leader may have responded ──▶ in doubt (DoubtfulStateError) until checks find the loss for 3 s
 *   ▼
 * 3 broker:   create the stream, or update the existing one, with a new epoch
 * 4 database: new epoch, move lost batches back to the outbox, commit
 * 5 every relay publishes these batches, under the new epoch
 *
 * crash           │ the next check, on any instance, finds      │ lost
 * before 3        │ the same as this check                      │ nothing
 * between 3 and 4 │ an epoch other than the recorded one: takes │ nothing; all recently published batches
 *                 │ the stream for new, gives it another epoch  │ are published again, not only the lost ones
 * after 4         │ an intact stream and a full outbox          │ nothing
 *
 * One exception: if this instance ends while it is in doubt, and other instances publish over the lost sequences before their own
 * checks (within 5 s), the lost events stay off the stream. The store still has them.
 *
 * A batch that is sent before step 3 and recorded after step 4 is recorded with the old epoch. Every check moves such batches back
 * to the outbox. When an event that was not lost is published again, the stream deduplicates it by its id.
 * ```
 */
@Injectable()
export class StreamCheck {
  private readonly epochsTotal: Counter<'reason'>;
  private readonly failureLog: FailureLog;
  /** The unconfirmed loss from the last check; undefined when that check found the stream intact or confirmed a loss. */
  private doubtful: DoubtfulLoss | undefined;
  /** When checks may delete batches again, by a monotonic clock. */
  private forgetAfter = -Infinity;

  constructor(
    private readonly stream: EventsStream,
    private readonly records: StreamRecordRepository,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failureLog = new FailureLog(logger);
    this.epochsTotal = eventsMetrics.events_stream_epochs_total.create(metrics);
    startAtZero(this.epochsTotal, [{ reason: 'new' }, { reason: 'lost_tail' }]);
  }

  /**
   * Checks the stream. Moves lost events back to the outbox, so that a relay publishes them again.
   *
   * @param witnesses acknowledged batches that the database may not have recorded yet
   * @returns the stream's epoch
   * @throws ForeignStreamError
   * @throws DoubtfulStateError: publish nothing until a later check succeeds
   * @throws when the broker or the database does not respond; the next check completes the repair
   */
  async run(witnesses: readonly Witness[] = []): Promise<string> {
    const { verdict, known, found } = await this.inspect(await this.records.read(), witnesses);
    if (verdict.kind !== 'intact' || !found) return this.agree(witnesses);
    this.doubtful = undefined;
    const { epoch } = verdict;
    await this.records.raise(epoch, known.lastSequence);
    const batches = await this.records.returnStrays();
    if (batches > 0)
      this.logger.warn(
        { epoch, batches },
        'republishing batches that were sent to an earlier epoch of the EVENTS stream',
      );
    await this.forgetSafe(epoch, found.lastSequence);
    return epoch;
  }

  /**
   * Deletes batches that can no longer be lost. Publishing does not depend on the deletion, so its failure does not fail the check. A
   * backup that keeps its snapshot for hours makes deleted rows pile up, and the deletion can then exceed its time limit until the backup
   * ends.
   */
  private async forgetSafe(epoch: string, lastSequence: number): Promise<void> {
    if (performance.now() < this.forgetAfter) return;
    try {
      await this.records.forgetSafe(epoch, lastSequence);
    } catch (error) {
      this.forgetAfter = performance.now() + forgetPauseMs;
      this.failureLog.warn('cannot delete the records of safely published batches, retrying in a minute', {
        err: error,
      });
    }
  }

  /**
   * Checks the stream while it holds the lock, and updates the subjects and limits of an intact stream.
   *
   * @throws as `run`
   */
  prepare(witnesses: readonly Witness[] = []): Promise<string> {
    return this.agree(witnesses, { updateIntact: true });
  }

  /** Compares again under the lock, one instance at a time, and gives the stream a new epoch if needed. */
  private async agree(
    witnesses: readonly Witness[],
    { updateIntact = false }: { updateIntact?: boolean } = {},
  ): Promise<string> {
    const beganAt = performance.now();
    const { decision, returned } = await this.records.change(async (record, readRetained) => {
      const inspection = await this.inspect(record, witnesses);
      if (inspection.verdict.kind === 'lost') await this.doubt(inspection, beganAt, readRetained);
      const decision = await this.decide(inspection, readRetained);
      if (!inspection.found) await this.stream.create(decision.epoch);
      else if (decision.change ?? updateIntact) await this.stream.update(decision.epoch);
      return decision;
    });
    this.doubtful = undefined;
    const { epoch, loss } = decision;
    if (loss) {
      this.epochsTotal.inc({ reason: loss.reason });
      this.logger.warn(
        { epoch, ...loss, batches: returned },
        'EVENTS stream was replaced or lost events, republishing under a new epoch',
      );
    }
    return epoch;
  }

  /**
   * On a stream with replicas, accepts a loss only after consecutive checks have found it for 3 s while the leader was in touch with its
   * replicas.
   *
   * @param beganAt when the check started, by a monotonic clock
   * @throws DoubtfulStateError while the loss is not confirmed
   */
  private async doubt(
    { known, found }: Inspection,
    beganAt: number,
    readRetained: ReadRetained,
  ): Promise<void> {
    if (!found || found.replicas === 'none') return;
    const before = this.doubtful;
    const isInARow = before !== undefined && beganAt < before.seenAt + maxPauseMs;
    const sinceBefore = isInARow ? before.inTouchSince : undefined;
    const inTouchSince = found.replicas === 'in touch' ? (sinceBefore ?? beganAt) : undefined;
    const evidence = before?.evidence ?? (await this.readEvidence(known, found, readRetained));
    this.doubtful = { evidence, inTouchSince, seenAt: performance.now() };
    if (inTouchSince === undefined)
      throw new DoubtfulStateError(
        'the leader of the EVENTS stream cannot reach most of its replicas, so the reported state of the stream may be outdated. Check the connections between the NATS servers',
      );
    if (performance.now() < inTouchSince + inTouchMs)
      throw new DoubtfulStateError('the EVENTS stream seems to have lost events, checking again for 3 s');
  }

  private async readEvidence(
    { epoch }: StreamRecord,
    { lastSequence }: StreamState,
    readRetained: ReadRetained,
  ): Promise<Witness[]> {
    if (epoch === null) return [];
    const batches = await readRetained(epoch, { outboxId: maxOutboxId, lastSequence, eventIds: [] });
    return batches.slice(0, maxEvidence).map((batch) => ({ ...batch, epoch }));
  }

  /**
   * Compares the stream with the record and the witnesses. Reads the stream after the record was read: in the other order, batches
   * published between the two reads would seem to be missing. A leader that was replaced without knowing also lacks batches, so missing
   * batches alone do not prove a loss.
   */
  private async inspect(record: StreamRecord, witnesses: readonly Witness[]): Promise<Inspection> {
    const all = [...witnesses, ...(this.doubtful?.evidence ?? [])];
    const ours = all.filter((witness) => witness.epoch === record.epoch);
    const lastSequence = Math.max(record.lastSequence, ...ours.map((witness) => witness.lastSequence));
    const known = { ...record, lastSequence };
    const found = await this.stream.find();
    // The sequences of a different stream say nothing about these batches.
    const asked = found?.epoch === record.epoch ? ours : [];
    const answers = await Promise.all(asked.map((witness) => this.isContradicted(witness)));
    return { verdict: judgeStream(known, found, answers.includes(true)), known, found };
  }

  private async decide({ verdict, found }: Inspection, readRetained: ReadRetained): Promise<Decision> {
    if (verdict.kind === 'intact') return { epoch: verdict.epoch, change: undefined, loss: undefined };
    const lastSequence = found?.lastSequence ?? 0;
    const drawn = randomBytes(4).toString('hex');
    if (verdict.kind === 'unknown') {
      const epoch = found?.epoch ?? drawn;
      const change = {
        epoch,
        lastSequence,
        survivingSequence: lastSequence,
        lostIds: [],
        missingSince: undefined,
      };
      return { epoch, change, loss: undefined };
    }
    const { reason, epoch: previousEpoch } = verdict;
    const isTail = reason === 'lost_tail';
    const change = {
      epoch: drawn,
      lastSequence,
      survivingSequence: isTail ? lastSequence : 0,
      lostIds: isTail ? await this.findContradicted(previousEpoch, lastSequence, readRetained) : [],
      missingSince: this.missingSince(found),
    };
    return { epoch: drawn, change, loss: { reason, previousEpoch } };
  }

  /**
   * Returns the outbox ids of lost batches whose sequences now hold other events, because an instance kept publishing before it noticed the
   * loss. Reads one message per batch, a few thousand per second. Only the messages show which batches the stream still has; the case is
   * rare enough for this.
   */
  private async findContradicted(
    epoch: string,
    lastSequence: number,
    readRetained: ReadRetained,
  ): Promise<string[]> {
    const lost: string[] = [];
    let batches = await readRetained(epoch);
    for (; batches.length > 0; batches = await readRetained(epoch, batches.at(-1))) {
      const doubtful = batches.filter((batch) => batch.lastSequence <= lastSequence);
      const answers = await Promise.all(doubtful.map((batch) => this.isContradicted(batch)));
      lost.push(...doubtful.filter((_, index) => answers[index]).map((batch) => batch.outboxId));
      if (doubtful.length < batches.length) break;
    }
    return lost;
  }

  /** Whether the last sequence of the batch holds another event. False when it holds no message. */
  private async isContradicted(batch: {
    eventIds: readonly string[];
    lastSequence: number;
  }): Promise<boolean> {
    const id = await this.stream.readMessageId(batch.lastSequence);
    return id !== undefined && !batch.eventIds.includes(id);
  }

  /**
   * Returns the time from which events may be missing: shortly before the stream's last message, in case the stream is an old backup.
   * Ignores expired events. Returns undefined when the stream does not exist or never had a message.
   */
  private missingSince(found: StreamState | undefined): number | undefined {
    if (found?.lastMessageAt === undefined) return undefined;
    return Math.max(found.lastMessageAt - missingMarginMs, Date.now() - this.stream.maxAgeMs);
  }
}

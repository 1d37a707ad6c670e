import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Counter, LOGGER, Registry, type Logger } from '@stream-events/service';
import { EventsStream, type StreamState } from './events-stream.js';
import { StreamRecordRepository, type EpochChange, type ReadRetained } from './stream-record.repository.js';
import { judgeStream, type LossReason, type StreamRecord, type Verdict } from './stream-verdict.js';

/** A batch that the stream has acknowledged to this instance: it must be there. */
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

interface Decision {
  epoch: string;
  change: EpochChange | undefined;
  loss: { previousEpoch: string; reason: LossReason } | undefined;
}

// Above what removing the files of a stream of gigabytes takes.
const deletionMs = 2_000;

// Between the time that an event was received and that of the stream's last message when it came before it: clocks
// that differ, and batches that waited.
const missingMarginMs = 5 * 60_000;

/**
 * Compares the EVENTS stream with what it has acknowledged. The store is the truth and the stream derived, so what the
 * stream loses is published again, under a new epoch. JetStream acknowledges before it writes to disk (up to 2 minutes
 * before), so a power cut takes away the end of what was acknowledged; people delete streams and restore backups.
 *
 * ```
 * 1 compare (see judgeStream) ──intact──▶ forget what cannot be lost any more
 *   │ not intact
 *   ▼
 * 2 lock the record, compare again (instances take turns, and the second finds it done) ──intact──▶ done
 * 3 broker:   create the stream, or write into it, with a new epoch
 * 4 database: new epoch, lost batches back to the outbox, commit
 * 5 every relay publishes them, under the new epoch
 *
 * crash           │ the next check, by anybody, finds           │ lost
 * before 3        │ what this one found                         │ nothing
 * between 3 and 4 │ an epoch that the record does not know, as  │ nothing; all that was published lately
 *                 │ of a stream made by others: a new epoch     │ is published again, not only the lost
 * after 4         │ an intact stream, and a full outbox         │ nothing
 *
 * A batch sent before 3, acknowledged by the old stream, noted after 4: it is noted with the old epoch, and every check
 * returns such batches to the outbox. An event that is published again but was not lost is de-duplicated by its id.
 * ```
 */
@Injectable()
export class StreamCheck {
  private readonly epochsTotal: Counter<'reason'>;

  constructor(
    private readonly stream: EventsStream,
    private readonly records: StreamRecordRepository,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.epochsTotal = new Counter({
      name: 'events_stream_epochs_total',
      help: 'New epochs of the EVENTS stream: it was another one (new), or had lost what it had acknowledged (lost_tail)',
      labelNames: ['reason'],
      registers: [metrics],
    });
  }

  /**
   * Checks the stream, and has everything published again that it has lost.
   *
   * @param witnesses what this instance knows and the database perhaps does not (yet)
   * @param condemned the epoch of a stream that can take nothing more: when it still has it, the stream is made anew
   * @returns the stream's epoch
   * @throws ForeignStreamError
   * @throws when broker or database do not answer; the next check goes on from there
   */
  async run(witnesses: readonly Witness[] = [], condemned?: string): Promise<string> {
    if (condemned !== undefined) return this.agree(witnesses, { condemned });
    const { verdict, known, found } = await this.inspect(await this.records.read(), witnesses);
    if (verdict.kind !== 'intact' || !found) return this.agree(witnesses);
    const { epoch } = verdict;
    await this.records.raise(epoch, known.lastSequence);
    await this.records.forgetSafe(epoch, found.lastSequence);
    const batches = await this.records.returnStrays();
    if (batches > 0)
      this.logger.warn(
        { epoch, batches },
        'batches sent to the stream of an earlier epoch are published again',
      );
    return epoch;
  }

  /** Checks the stream under the lock; one that is intact gets its subjects and bounds brought up to date. */
  prepare(): Promise<string> {
    return this.agree([], { updateIntact: true });
  }

  /** One instance at a time looks again, and gives the stream a new epoch where it must have one. */
  private async agree(
    witnesses: readonly Witness[],
    { updateIntact = false, condemned }: { updateIntact?: boolean; condemned?: string } = {},
  ): Promise<string> {
    const { decision, returned } = await this.records.change(async (record, readRetained) => {
      if (condemned !== undefined) await this.stream.delete(condemned);
      const inspection = await this.inspect(record, witnesses);
      const decision = await this.decide(inspection, readRetained);
      // One was there: nats-server 2.9 says that it is gone before it has removed its files, and then removes the new one's.
      if (!inspection.found && decision.loss) await wait(deletionMs);
      if (!inspection.found) await this.stream.create(decision.epoch);
      else if (decision.change ?? updateIntact) await this.stream.update(decision.epoch);
      return decision;
    });
    const { epoch, loss } = decision;
    if (loss) {
      this.epochsTotal.inc({ reason: loss.reason });
      this.logger.warn(
        { epoch, ...loss, batches: returned },
        'the EVENTS stream has lost events: it has a new epoch, and they are published again',
      );
    }
    return epoch;
  }

  /** What is known is read before the stream, which would else seem to lag behind what came meanwhile. */
  private async inspect(record: StreamRecord, witnesses: readonly Witness[]): Promise<Inspection> {
    const ours = witnesses.filter((witness) => witness.epoch === record.epoch);
    const lastSequence = Math.max(record.lastSequence, ...ours.map((witness) => witness.lastSequence));
    const known = { ...record, lastSequence };
    const found = await this.stream.find();
    let isContradicted = false;
    // Where there is no stream, or another one, nobody testifies.
    const asked = found?.epoch === record.epoch ? ours : [];
    for (const witness of asked) isContradicted ||= await this.isContradicted(witness);
    return { verdict: judgeStream(known, found, isContradicted), known, found };
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
   * Batches whose places others have taken since they were lost: whoever did not notice the loss went on publishing. Asks
   * for every batch, some thousand a second: it is rare, and nothing else tells what has survived.
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

  /** Whether another event has the place of the batch's last one; not so when there is none (any more). */
  private async isContradicted(batch: {
    eventIds: readonly string[];
    lastSequence: number;
  }): Promise<boolean> {
    const id = await this.stream.readMessageId(batch.lastSequence);
    return id !== undefined && !batch.eventIds.includes(id);
  }

  /** A stream that has messages may be an old backup. What would be too old for the stream is not missing. */
  private missingSince(found: StreamState | undefined): number | undefined {
    if (found?.lastMessageAt === undefined) return undefined;
    return Math.max(found.lastMessageAt - missingMarginMs, Date.now() - this.stream.maxAgeMs);
  }
}

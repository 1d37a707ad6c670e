import { Inject, Injectable } from '@nestjs/common';
import { firstIdAt } from '@stream-events/contracts';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { validate as isUuid } from 'uuid';
import { EventsStream } from '../relay/events-stream.js';
import { StreamRecordRepository } from '../relay/stream-record.repository.js';
import { RetentionRepository } from './retention.repository.js';

const intervalMs = 60_000;
const maxBackoffMs = 60_000;
// Messages per page. A page contains no event data and takes less than 1 MB.
const pageSize = 2_000;

/**
 * Deletes events from the EVENTS stream that retention has removed from the store. Nearly all of them are already gone, because the
 * stream's maximum age is shorter than RETENTION_DAYS. But that age counts from publishing, so the stream keeps late events too long. An
 * event is late if it is published after an outage, after a loss of the stream, or from a dead letter. The relay records the sequence up to
 * which late events may exist. Each time retention has removed another day, the trimmer reads the stream up to this sequence.
 */
@Injectable()
export class StreamTrimmer {
  private readonly loop: WorkerLoop;
  /** Cutoff of the last complete run: the stream has no events left that were received before this time (milliseconds since 1970). */
  private trimmedBefore: number | null = null;

  constructor(
    private readonly stream: EventsStream,
    private readonly streamRecords: StreamRecordRepository,
    private readonly retentionRecords: RetentionRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: async (stopping) => {
        await this.run(stopping);
        return false;
      },
      idleMs: intervalMs,
      maxBackoffMs,
      onFailure: (err) =>
        failures.warn('cannot delete expired events from the EVENTS stream, retrying within a minute', {
          err,
        }),
    });
  }

  start(): void {
    this.loop.start();
  }

  /** Waits up to 5 s for the current page, and then stops. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Deletes the events that retention has removed from the store since the last run.
   *
   * @throws when the broker or the database does not respond
   */
  async run(stopping: AbortSignal): Promise<void> {
    const removedBefore = await this.retentionRecords.readRemovedBefore();
    if (removedBefore === null || removedBefore === this.trimmedBefore) return;
    const firstKept = firstIdAt(removedBefore);
    const end = await this.streamRecords.readLateSequence();
    let deleted = 0;
    for (let next = 1; next <= end;) {
      if (stopping.aborted) return;
      const messages = await this.stream.readMessageIds({ from: next, until: end }, pageSize);
      const expired = messages.filter(({ eventId }) => isUuid(eventId) && eventId < firstKept);
      for (const { sequence } of expired) await this.stream.deleteMessage(sequence);
      deleted += expired.length;
      next = (messages.at(-1)?.sequence ?? end) + 1;
    }
    if (deleted > 0) this.logger.info({ events: deleted }, 'deleted expired events from the EVENTS stream');
    this.trimmedBefore = removedBefore;
  }
}

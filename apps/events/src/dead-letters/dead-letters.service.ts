import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type NewEvent, type RetryDeadLetterReply } from '@stream-events/contracts';
import {
  FailureLog,
  LOGGER,
  readForGauge,
  Registry,
  type Counter,
  type Logger,
} from '@stream-events/service';
import { EventWriter } from '../store/event-writer.service.js';
import { unwrap } from './unreadable-message.js';
import { DeadLettersRepository, type StoredDeadLetter } from '../store/dead-letters.repository.js';
import { eventsMetrics } from '../metrics.js';

/**
 * Lets an owner view, retry, and discard dead letters: events that the database rejected, messages that cannot be read, and events
 * that arrived after their retention period.
 *
 * ```
 * rejected ──▶ dead letter ──retry──▶ stored, or already known ─▶ deleted
 *                  ▲  │   │ rejected again: keeps the new reason; if only now the message can be read: a new dead letter replaces it
 *                  └──┼───┘
 *                     └─discard──▶ deleted; if the message is redelivered, it becomes a dead letter again
 * ```
 */
@Injectable()
export class DeadLettersService {
  private readonly retriesTotal: Counter;

  constructor(
    private readonly repository: DeadLettersRepository,
    private readonly writer: EventWriter,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.retriesTotal = eventsMetrics.events_dead_letter_retries_total.create(metrics);
    measureDeadLetters(repository, logger, metrics);
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<StoredDeadLetter> {
    const deadLetter = await this.repository.find(id);
    if (!deadLetter) throw new ServiceError('not_found', `There is no dead letter ${id}.`);
    return deadLetter;
  }

  /**
   * Stores the event of a dead letter, and then deletes the dead letter. After a crash between the two steps, the next retry finds the
   * event already stored. Idempotent by message key: concurrent retries store the event once.
   *
   * @throws ServiceError `not_found`; `conflict` when the message still cannot be read, or when the event is rejected again or was received
   * before the retention period. The dead letter is then kept, with one exception: if its message was unreadable before and can be read
   * now, a dead letter of the event replaces it
   */
  async retry(id: string): Promise<RetryDeadLetterReply> {
    const { key, event } = await this.get(id);
    const { id: storedId, outcome } = await this.writer.storeAgain(readAgain(event));
    this.retriesTotal.inc({ outcome });
    this.logger.info({ eventId: id, storedId, outcome }, 'retried dead letter');
    if (outcome === 'dead_lettered') {
      if (storedId !== id) await this.repository.remove(key);
      throw new ServiceError('conflict', describeKept(id, await this.get(storedId)));
    }
    await this.repository.remove(key);
    return { id: storedId, outcome };
  }

  /** @throws ServiceError `not_found` */
  async discard(id: string): Promise<void> {
    const { key } = await this.get(id);
    await this.repository.remove(key);
    this.logger.info({ eventId: id }, 'discarded dead letter');
  }
}

function readAgain(event: NewEvent): NewEvent {
  try {
    return unwrap(event);
  } catch (error) {
    throw new ServiceError(
      'conflict',
      'The dead letter was kept: its message still cannot be read as an event.',
      {
        cause: error,
      },
    );
  }
}

/** Explains why dead letter `id` still exists, or which dead letter replaced it. */
function describeKept(id: string, { event, reason, sqlState }: StoredDeadLetter): string {
  const isSame = event.id === id;
  const again = isSame ? ' again' : '';
  const cause = sqlState
    ? `The database rejected the event${again} with SQLSTATE ${sqlState}: ${reason}`
    : reason;
  return isSame
    ? `Dead letter ${id} was kept. ${cause}`
    : `The message of dead letter ${id} can be read now, and dead letter ${event.id} replaced it. ${cause}`;
}

function measureDeadLetters(repository: DeadLettersRepository, logger: Logger, metrics: Registry): void {
  const failureLog = new FailureLog(logger);
  eventsMetrics.events_dead_letters.create(metrics, async (gauge) => {
    const count = await readForGauge(gauge, failureLog, () => repository.count());
    gauge.set(count ?? Number.NaN);
  });
}

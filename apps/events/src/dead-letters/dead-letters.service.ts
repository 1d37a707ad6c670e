import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type NewEvent, type RetryDeadLetterReply } from '@stream-events/contracts';
import { Counter, Gauge, LOGGER, Registry, type Logger } from '@stream-events/service';
import { EventWriter } from '../store/event-writer.service.js';
import { unwrap } from './unreadable-message.js';
import { DeadLettersRepository, type StoredDeadLetter } from '../store/dead-letters.repository.js';

/**
 * Lets an owner decide about events that the database refused.
 *
 * ```
 * refused ──▶ parked ──retry──▶ stored, or known by now ──▶ parked no more
 *               ▲  │   │ refused again: the new reason
 *               └──┼───┘
 *                  └─discard──▶ gone; delivered again, it is parked again
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
    this.retriesTotal = new Counter({
      name: 'events_dead_letter_retries_total',
      help: 'Parked events that were tried again, by what became of them; events_ingest_total counts only their arrival',
      labelNames: ['outcome'],
      registers: [metrics],
    });
    measureDeadLetters(repository, metrics);
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<StoredDeadLetter> {
    const parked = await this.repository.find(id);
    if (!parked) throw new ServiceError('not_found', `There is no dead letter ${id}.`);
    return parked;
  }

  /**
   * Stores a parked event. Idempotent by its message key: two at once store it once, and after a crash between storing
   * and forgetting the next retry finds it stored.
   *
   * @throws ServiceError `conflict` when the database refuses it again: it stays parked
   */
  async retry(id: string): Promise<RetryDeadLetterReply> {
    const { key, event } = await this.get(id);
    const { id: storedId, outcome } = await this.writer.storeAgain(readAgain(event));
    this.retriesTotal.inc({ outcome });
    this.logger.info({ eventId: id, storedId, outcome }, 'parked event tried again');
    if (outcome === 'dead_lettered') {
      const { reason, sqlState } = await this.get(id);
      throw new ServiceError(
        'conflict',
        `The event stays parked: the database refuses it again, with ${sqlState}: ${reason}`,
      );
    }
    await this.repository.remove(key);
    return { id: storedId, outcome };
  }

  /** @throws ServiceError `not_found` */
  async discard(id: string): Promise<void> {
    const { key } = await this.get(id);
    await this.repository.remove(key);
    this.logger.info({ eventId: id }, 'parked event discarded');
  }
}

function readAgain(event: NewEvent): NewEvent {
  try {
    return unwrap(event);
  } catch (error) {
    throw new ServiceError('conflict', 'The message stays parked: it still cannot be read as an event.', {
      cause: error,
    });
  }
}

/** Says how many events are parked; nothing while the database is away. */
function measureDeadLetters(parked: DeadLettersRepository, metrics: Registry): void {
  new Gauge({
    name: 'events_dead_letters',
    help: 'Events that the database refused and that wait for an owner; every instance tells the same number',
    registers: [metrics],
    async collect() {
      this.set(await parked.count().catch(() => Number.NaN));
    },
  });
}

import { Injectable } from '@nestjs/common';
import {
  getEvent,
  isTextWithin,
  pickEventColumns,
  ServiceError,
  type EventWithColumns,
  type JsonObjectText,
  type ReadLimits,
  type StoredEvent,
  type StoreOutcome,
} from '@stream-events/contracts';
import { EventIngest, generateId } from '@stream-events/ingest';
import { RequestClient } from '@stream-events/messaging';
import { v4 as uuidV4 } from 'uuid';
import { hasScope, type Caller } from '../access/caller.js';
import { bytesOnStream } from '../storage/bytes-on-stream.js';
import { StorageLimits } from '../storage/storage-limits.service.js';

export interface ClientEvent {
  eventType: string;
  /** The event data as a JSON object: exactly as sent, and parsed. */
  eventData: Pick<JsonObjectText, 'text' | 'value'>;
  /** The `Idempotency-Key` header. */
  idempotencyKey: string | undefined;
  /** HTTP request id, for the logs. */
  requestId: string;
}

/** A request that reads events, and the limits of its token. */
export interface EventReader {
  /** HTTP request id, for the logs. */
  requestId: string;
  limits: ReadLimits;
}

const maxKeyLength = 255;
/** Maximum length of an `event_id`. Unlike an `id`, it can be any text. */
const maxIdLength = 255;

/** Stores the events that clients add, and finds single events. */
@Injectable()
export class EventsService {
  constructor(
    private readonly ingest: EventIngest,
    private readonly client: RequestClient,
    private readonly storage: StorageLimits,
  ) {}

  /**
   * Stores an event with the origin `platform`. Returns the existing event if the idempotency key was used before. A token that must not
   * read events gets only the ids of the existing event.
   */
  async create(event: ClientEvent & { eventSource: string }, caller: Caller): Promise<StoredEvent> {
    const newEvent: EventWithColumns = {
      id: generateId(),
      eventId: null,
      eventType: event.eventType,
      eventSource: event.eventSource,
      origin: 'platform',
      eventData: event.eventData.text,
      idempotencyKey: scopeKey(event.idempotencyKey, caller, 'platform'),
      columns: pickEventColumns(event.eventType, event.eventData.value),
    };
    return this.store(newEvent, event, caller);
  }

  /** Stores a test event. Returns the same as `create` if the idempotency key was used before. */
  async test(event: ClientEvent, caller: Caller): Promise<StoredEvent> {
    const newEvent: EventWithColumns = {
      id: generateId(),
      eventId: uuidV4(),
      eventType: event.eventType,
      eventSource: 'TestCall',
      origin: 'test',
      eventData: event.eventData.text,
      idempotencyKey: scopeKey(event.idempotencyKey, caller, 'test'),
      columns: pickEventColumns(event.eventType, event.eventData.value),
    };
    return this.store(newEvent, event, caller);
  }

  /** Finds an event by `id` or `event_id`. An event that the token must not read counts as unknown. */
  async get(id: string, { requestId, limits }: EventReader): Promise<StoredEvent> {
    if (!isTextWithin(id, 1, maxIdLength))
      throw new ServiceError('not_found', 'There is no event with this id or event_id.');
    return this.client.request(getEvent, { id, limits }, { correlationId: requestId });
  }

  private async store(
    event: EventWithColumns,
    { requestId }: ClientEvent,
    caller: Caller,
  ): Promise<StoredEvent> {
    const { id, outcome } = await this.storeWithinLimits(event, caller, requestId);
    if (outcome === 'dead_lettered')
      throw new ServiceError(
        'invalid',
        `The database rejected the event. An owner can view the reason in dead letter ${id}, and retry or discard the dead letter.`,
      );
    if (outcome !== 'known') return event;
    const known = await this.getKnown(id, requestId);
    // Another token of the user may have sent the first event. A repeated request with the same body still gets the same response.
    return hasScope(caller.token, 'events:read') ? known : { ...event, id: known.id, eventId: known.eventId };
  }

  /** Returns the event that an earlier request with this idempotency key stored. */
  private async getKnown(id: string, requestId: string): Promise<StoredEvent> {
    try {
      return await this.get(id, { requestId, limits: {} });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
      throw new ServiceError(
        'conflict',
        'The event of this Idempotency-Key was stored, and has been erased since.',
      );
    }
  }

  /** @throws StorageLimitError when the event would exceed a storage limit */
  private async storeWithinLimits(
    event: EventWithColumns,
    caller: Caller,
    requestId: string,
  ): Promise<StoreOutcome> {
    const takeBack = this.storage.take(caller.id, bytesOnStream(event));
    try {
      const outcome = await this.ingest.store(event, requestId);
      if (outcome.outcome === 'known') takeBack();
      return outcome;
    } catch (error) {
      takeBack();
      throw error;
    }
  }
}

/** Prefixes the key, so that the same key from another user, or for a test event, does not collide. */
function scopeKey(key: string | undefined, caller: Caller, kind: 'platform' | 'test'): string | null {
  if (key === undefined || key === '') return null;
  if (key.length > maxKeyLength)
    throw ServiceError.onField('Idempotency-Key', `must have at most ${maxKeyLength} characters`);
  return `${caller.id} ${kind === 'test' ? 't' : 'p'} ${key}`;
}

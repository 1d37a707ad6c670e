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
import type { Caller } from '../access/caller.js';
import { bytesOnStream } from '../storage/bytes-on-stream.js';
import { StorageLimits } from '../storage/storage-limits.service.js';

/** An event that a client sends. */
export interface ClientEvent {
  eventType: string;
  /** A JSON object: its text, and the parsed value. */
  eventData: Pick<JsonObjectText, 'text' | 'value'>;
  /** The `Idempotency-Key` header, if any. */
  idempotencyKey: string | undefined;
  /** The id of the HTTP request, for the logs. */
  requestId: string;
}

/** The request that reads events, and what its token may see. */
export interface EventReader {
  /** The id of the HTTP request, for the logs. */
  requestId: string;
  /** The events that the reader may see. Undefined: all events. */
  limits: ReadLimits | undefined;
}

const maxKeyLength = 255;
/** Maximum length of an `event_id`, which can be longer than an `id`. */
const maxIdLength = 255;

/** Stores the events that clients add, and finds single events. */
@Injectable()
export class EventsService {
  constructor(
    private readonly ingest: EventIngest,
    private readonly client: RequestClient,
    private readonly storage: StorageLimits,
  ) {}

  /** Stores an event with the origin `platform`. */
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

  /** Stores a test event. */
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

  /** Finds an event by its `id` or its `event_id`, if the reader may see the event. */
  async get(id: string, { requestId, limits }: EventReader): Promise<StoredEvent> {
    if (!isTextWithin(id, 1, maxIdLength))
      throw new ServiceError('not_found', 'There is no event with this id or event_id.');
    return this.client.read(getEvent, { id }, { correlationId: requestId, limits });
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
    return outcome === 'known' ? this.getKnown(id, requestId) : event;
  }

  /** Returns the event that an earlier request with the same idempotency key stored. */
  private async getKnown(id: string, requestId: string): Promise<StoredEvent> {
    try {
      return await this.get(id, { requestId, limits: undefined });
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

/** Builds the stored idempotency key. Keys of different users, or of an event and a test event, never collide. */
function scopeKey(key: string | undefined, caller: Caller, kind: 'platform' | 'test'): string | null {
  if (key === undefined || key === '') return null;
  if (key.length > maxKeyLength)
    throw ServiceError.onField('Idempotency-Key', `must have at most ${maxKeyLength} characters`);
  return `${caller.id} ${kind === 'test' ? 't' : 'p'} ${key}`;
}

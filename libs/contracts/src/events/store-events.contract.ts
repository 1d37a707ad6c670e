import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';
import { ServiceError } from '../errors.js';
import { isJsonObject } from '../json-object.js';
import { IsText, isTextWithin } from '../text.js';
import { eventOrigins, lastMillisecond, type EventOrigin, type StoredEvent } from './event-record.js';
import { derivedColumns, type EventColumns } from './filter-columns.js';

/** Maximum number of events per request. */
export const maxBatchEvents = 256;

/**
 * Maximum size of a request on the wire, where JSON escapes can double the size of events. A NATS message is at most 1 MiB, including its
 * headers and Nest's envelope.
 */
export const maxBatchBytes = 1000 * 1024;

/** Returns an upper bound of an event's size in a request, in bytes, with or without columns. */
export function estimateEventBytes(event: NewEvent & { columns?: EventColumns | undefined }): number {
  const names =
    event.eventType.length +
    event.eventSource.length +
    (event.eventId?.length ?? 0) +
    (event.idempotencyKey?.length ?? 0) +
    (event.delivery ? event.delivery.via.length + event.delivery.subscription.length : 0);
  // Each UTF-16 code unit of event data takes at most 3 bytes. UTF-8 needs up to 3, an escape 2: JSON text has no control characters except
  // line breaks and tabs. In other texts, a control character becomes a 6-byte escape, such as \u0001.
  return 3 * event.eventData.length + 6 * names + 3 * lengthOf(event.columns) + 300;
}

function lengthOf(columns: EventColumns | undefined): number {
  let length = 0;
  if (columns) for (const { field } of derivedColumns) length += columns[field]?.length ?? 0;
  return length;
}

/** Maximum length of `Delivery.subscription`. Conditions have few ids, of about ten digits each. */
export const maxSubscriptionLength = 1_000;

/**
 * The subscription that delivered a platform message. Subscriptions with the same type and condition deliver the same occurrences under
 * different message ids.
 */
export class Delivery {
  /**
   * Distinguishes subscriptions with the same type and condition. The platform allows one per callback, conduit, or session. The value is
   * the fingerprint of the webhook secret in the callback URL (empty if the URL has none), the conduit's id, or `websocket`.
   */
  @IsText(0, 64)
  via!: string;

  /** Type, version, and condition in canonical form. */
  @IsText(1, maxSubscriptionLength)
  subscription!: string;

  /**
   * When the platform created the subscription, by the platform's clock, in milliseconds since 1970. The subscription delivers no older
   * occurrences.
   */
  @IsInt()
  @Min(0)
  @Max(lastMillisecond)
  subscribedAt!: number;
}

/** An event to store. The service that receives the event generates `id` once, so retries send the same id. */
export class NewEvent implements StoredEvent {
  @IsUUID('7')
  id!: string;

  /** The platform's message id, or a test event's `event_id`. Null for platform events that clients posted. */
  @ValidateIf((event: NewEvent) => event.eventId !== null)
  @IsText(1, 255)
  eventId!: string | null;

  @IsText(1, 255)
  eventType!: string;

  @IsText(1, 32)
  eventSource!: string;

  @IsIn(eventOrigins)
  origin!: EventOrigin;

  /** JSON text of an object. The database checks the syntax. */
  @IsString()
  eventData!: string;

  /** Identifies repeated requests of one user. Null without an `Idempotency-Key` header. */
  @ValidateIf((event: NewEvent) => event.idempotencyKey !== null)
  @IsText(1, 300)
  idempotencyKey!: string | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(lastMillisecond)
  occurredAt?: number | null | undefined;

  /** Undefined if no subscription delivered the message, or if the sender is an older version without this field. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => Delivery)
  delivery?: Delivery | null | undefined;
}

export class StoreEventsRequest {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(maxBatchEvents)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => NewEvent)
  events!: NewEvent[];
}

/** Outcomes for one event (see `StoreOutcome`). */
export const storeOutcomes = ['stored', 'known', 'dead_lettered'] as const;

/**
 * `stored`: stored now, or by an earlier attempt with the same id. `known`: the same message was stored before, as event `id`.
 * `dead_lettered`: the event is now dead letter `id`, because the database rejected it or it is older than the retention period.
 */
export class StoreOutcome {
  @IsUUID()
  id!: string;

  @IsIn(storeOutcomes)
  outcome!: (typeof storeOutcomes)[number];
}

export class StoreEventsReply {
  /** One outcome per event, in the order of the request. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StoreOutcome)
  outcomes!: StoreOutcome[];
}

/**
 * Stores a batch. When the reply arrives, every event is on disk: stored, known, or a dead letter. Used if the sender or the events service
 * has version 0.1.0, which does not know `storeEventBatch`.
 */
export const storeEvents = defineContract({
  subject: 'request.events.store',
  request: StoreEventsRequest,
  reply: StoreEventsReply,
  errors: [],
  timeoutMs: 2_000,
  parseRequest: parseStoreEventsRequest,
  parseReply: parseStoreEventsReply,
});

// Accepts any version and, like class-validator, the nil and max UUIDs.
const uuidPattern =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|f{8}-f{4}-f{4}-f{4}-f{12})$/i;
const uuidV7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Checks a request by hand, which is faster than with the decorators of `StoreEventsRequest`. */
export function parseStoreEventsRequest(message: unknown): StoreEventsRequest {
  const events = isJsonObject(message) ? message.events : undefined;
  if (!Array.isArray(events) || events.length === 0 || events.length > maxBatchEvents) {
    throw ServiceError.onField('events', `must be a list of 1 to ${maxBatchEvents} events`);
  }
  return { events: events.map((event, index) => parseNewEvent(event, `events.${index}`)) };
}

/** Checks a reply by hand, like the decorators of `StoreEventsReply`. Also parses replies of version 0.1.0. */
export function parseStoreEventsReply(message: unknown): StoreEventsReply {
  const outcomes = isJsonObject(message) ? message.outcomes : undefined;
  if (!Array.isArray(outcomes)) throw ServiceError.onField('outcomes', 'must be a list');
  return { outcomes: outcomes.map((outcome, index) => parseOutcome(outcome, `outcomes.${index}`)) };
}

/** Checks an outcome by hand, like the decorators of `StoreOutcome`. `path` is the prefix of field names in errors. */
export function parseOutcome(value: unknown, path: string): StoreOutcome {
  if (!isJsonObject(value) || typeof value.id !== 'string' || !uuidPattern.test(value.id)) {
    throw fault(path, 'id', 'must be a UUID');
  }
  // Events services of version 0.1.0 send `parked` for this outcome.
  const received = value.outcome === 'parked' ? 'dead_lettered' : value.outcome;
  const outcome = storeOutcomes.find((known) => known === received);
  if (!outcome) {
    throw fault(path, 'outcome', `must be one of ${storeOutcomes.join(', ')}`);
  }
  return { id: value.id, outcome };
}

/** Checks an event by hand, like the decorators of `NewEvent`. `path` is the prefix of field names in errors. */
export function parseNewEvent(value: unknown, path = 'event'): NewEvent {
  if (!isJsonObject(value)) throw ServiceError.onField(path, 'must be an object');
  const { id, eventId, eventType, eventSource, origin, eventData, idempotencyKey, occurredAt, delivery } =
    value;
  if (typeof id !== 'string' || !uuidV7Pattern.test(id)) throw fault(path, 'id', 'must be a UUIDv7');
  if (eventId !== null && !isTextWithin(eventId, 1, 255))
    throw fault(path, 'eventId', 'must be text or null');
  if (!isTextWithin(eventType, 1, 255)) throw fault(path, 'eventType', 'must be text of 1 to 255 characters');
  if (!isTextWithin(eventSource, 1, 32))
    throw fault(path, 'eventSource', 'must be text of 1 to 32 characters');
  if (origin !== 'platform' && origin !== 'test') throw fault(path, 'origin', 'must be platform or test');
  if (typeof eventData !== 'string') throw fault(path, 'eventData', 'must be JSON text');
  if (idempotencyKey !== null && !isTextWithin(idempotencyKey, 1, 300)) {
    throw fault(path, 'idempotencyKey', 'must be text or null');
  }
  if (occurredAt != null && !isMillisecond(occurredAt)) {
    throw fault(path, 'occurredAt', 'must be milliseconds since 1970 or null');
  }
  return {
    id,
    eventId,
    eventType,
    eventSource,
    origin,
    eventData,
    idempotencyKey,
    occurredAt,
    delivery: delivery == null ? delivery : parseDelivery(delivery, `${path}.delivery`),
  };
}

function parseDelivery(value: unknown, path: string): Delivery {
  if (!isJsonObject(value)) throw ServiceError.onField(path, 'must be an object');
  const { via, subscription, subscribedAt } = value;
  if (!isTextWithin(via, 0, 64)) throw fault(path, 'via', 'must be text of 0 to 64 characters');
  if (!isTextWithin(subscription, 1, maxSubscriptionLength))
    throw fault(path, 'subscription', `must be text of 1 to ${maxSubscriptionLength} characters`);
  if (!isMillisecond(subscribedAt)) throw fault(path, 'subscribedAt', 'must be milliseconds since 1970');
  return { via, subscription, subscribedAt };
}

function isMillisecond(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= lastMillisecond;
}

function fault(path: string, field: string, message: string): ServiceError {
  return ServiceError.onField(`${path}.${field}`, message);
}

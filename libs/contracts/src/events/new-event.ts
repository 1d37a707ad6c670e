import { Type } from 'class-transformer';
import {
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
import { ServiceError } from '../errors.js';
import { isJsonObject } from '../json-object.js';
import { IsText, isTextWithin } from '../text.js';
import { eventOrigins, lastMillisecond, type EventOrigin, type StoredEvent } from './event-record.js';

/** Maximum length of `Delivery.subscription`. Conditions have few ids, of about ten digits each. */
export const maxSubscriptionLength = 1_000;

/** The subscription that delivered a platform message. */
export class Delivery {
  /** Type, version, and condition in canonical form. */
  @IsText(1, maxSubscriptionLength)
  subscription!: string;
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

  /** Undefined if no subscription delivered the message. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => Delivery)
  delivery?: Delivery | null | undefined;
}

const uuidV7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Checks an event by hand, which is faster than with the decorators of `NewEvent`. `path` is the prefix of field names in errors. */
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
  const { subscription } = value;
  if (!isTextWithin(subscription, 1, maxSubscriptionLength))
    throw fault(path, 'subscription', `must be text of 1 to ${maxSubscriptionLength} characters`);
  return { subscription };
}

function isMillisecond(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= lastMillisecond;
}

function fault(path: string, field: string, message: string): ServiceError {
  return ServiceError.onField(`${path}.${field}`, message);
}

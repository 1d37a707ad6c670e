import { Type } from 'class-transformer';
import { IsArray, IsIn, IsInt, IsObject, IsUUID, Min, ValidateNested } from 'class-validator';
import { defineContract } from '../contract.js';
import { ServiceError } from '../errors.js';
import { isJsonObject } from '../json-object.js';
import { parseTextTable, printTextTable } from '../text-table.js';
import { columnRules, readEventColumns } from './event-columns.js';
import { derivedColumns, type EventColumns } from './filter-columns.js';
import { parseNewEvent, type NewEvent } from './new-event.js';

/** Maximum number of events per request. */
export const maxBatchEvents = 256;

/** Maximum size of a request on the wire. A NATS message is at most 1 MiB, including its headers. */
export const maxBatchBytes = 1000 * 1024;

/**
 * A new event with the values that filters read. The service that received the event has already parsed the event data, so the events
 * service does not have to parse it again.
 *
 * The events service trusts these values: NATS permits only the gateway and the platform connector to send this request (see `natsUsers`).
 * With wrong values, filters would miss the event, the event would get a wrong subject on EVENTS, and a raid's two messages would not be
 * paired. This adds no risk, because such a sender could also send wrong events.
 */
export interface EventWithColumns extends NewEvent {
  /** Undefined if nobody has derived the values yet, or if the sender derived them by other rules than this version. */
  columns?: EventColumns | undefined;
}

/** Returns an upper bound of an event's size in a request, in bytes. */
export function estimateEventBytes(event: EventWithColumns): number {
  const names =
    event.eventType.length +
    event.eventSource.length +
    (event.eventId?.length ?? 0) +
    (event.idempotencyKey?.length ?? 0) +
    (event.delivery?.subscription.length ?? 0);
  // A UTF-16 code unit takes at most 3 bytes in UTF-8.
  return 3 * (event.eventData.length + names + lengthOf(event.columns)) + 300;
}

function lengthOf(columns: EventColumns | undefined): number {
  let length = 0;
  if (columns) for (const { field } of derivedColumns) length += columns[field]?.length ?? 0;
  return length;
}

/** `parseStoreEventBatch` checks the events. */
export class StoreEventBatchRequest {
  /** 1 to `maxBatchEvents` events. */
  events!: EventWithColumns[];
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

/** The outcome of an event, if the outcome is not `stored`. */
export class StoreException extends StoreOutcome {
  /** Index of the event in the request, from 0. */
  @IsInt()
  @Min(0)
  index!: number;
}

export class StoreEventBatchReply {
  /** Number of events in the request. All of them are on disk. */
  @IsInt()
  @Min(0)
  events!: number;

  /** Outcomes other than `stored`. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StoreException)
  exceptions!: StoreException[];
}

/**
 * Stores a batch. When the reply arrives, every event is on disk: stored, known, or a dead letter. Event data is sent without JSON escapes,
 * and the reply lists only exceptions.
 */
export const storeEventBatch = defineContract({
  subject: 'request.events.store-batch',
  request: StoreEventBatchRequest,
  reply: StoreEventBatchReply,
  errors: [],
  timeoutMs: 2_000,
  rawRequest: { print: printStoreEventBatch, parse: parseStoreEventBatch },
  parseReply: parseStoreEventBatchReply,
});

// Accepts any version and, like class-validator, the nil and max UUIDs.
const uuidPattern =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|f{8}-f{4}-f{4}-f{4}-f{12})$/i;

const fields = [
  'id',
  'eventId',
  'eventType',
  'eventSource',
  'origin',
  'eventData',
  'idempotencyKey',
  'occurredAt',
] as const;

// Each event is a row of texts: the fields above, the columns, and the delivery. The head has the delivery's index, because other versions
// can have other columns.
const deliveryAt = fields.length + derivedColumns.length;
const width = deliveryAt + 1;

/** Encodes a batch as a table of texts. Derives missing columns. */
export function printStoreEventBatch({ events }: StoreEventBatchRequest): Uint8Array {
  const texts: (string | null)[] = [];
  for (const event of events) {
    texts.push(event.id, event.eventId, event.eventType, event.eventSource, event.origin, event.eventData);
    texts.push(event.idempotencyKey, event.occurredAt == null ? null : String(event.occurredAt));
    const columns = event.columns ?? readEventColumns(event.eventType, event.eventData);
    for (const { field } of derivedColumns) texts.push(columns[field]);
    texts.push(event.delivery?.subscription ?? null);
  }
  return printTextTable({ columns: columnRules, width, delivery: deliveryAt }, texts);
}

/** @throws ServiceError `invalid` */
export function parseStoreEventBatch(bytes: Uint8Array): StoreEventBatchRequest {
  const { head, texts } = parseTextTable(bytes);
  const { width: rowWidth } = head;
  // Rows from newer versions can have more texts at the end.
  if (typeof rowWidth !== 'number' || !Number.isInteger(rowWidth) || rowWidth < fields.length)
    throw new ServiceError('invalid', 'The event batch has an invalid row width.');
  const count = texts.length / rowWidth;
  if (!Number.isInteger(count) || count === 0 || count > maxBatchEvents)
    throw ServiceError.onField('events', `must be a list of 1 to ${maxBatchEvents} events`);
  const hasColumns = head.columns === columnRules && rowWidth >= deliveryAt;
  const place = readPlace(head.delivery, rowWidth);
  const events: EventWithColumns[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = index * rowWidth;
    const event: EventWithColumns = readEvent(texts, at, { index, place });
    if (hasColumns) event.columns = readColumns(texts, at + fields.length);
    events.push(event);
  }
  return { events };
}

/** Returns the delivery's index in a row. */
function readPlace(place: unknown, rowWidth: number): number {
  const index = Number.isInteger(place) ? Number(place) : NaN;
  if (index >= fields.length && index < rowWidth) return index;
  throw new ServiceError('invalid', 'The event batch has no valid index of the deliveries.');
}

function readEvent(
  texts: readonly (string | null)[],
  at: number,
  { index, place }: { index: number; place: number },
): NewEvent {
  const occurredAt = texts[at + 7];
  const event: Record<(typeof fields)[number] | 'delivery', unknown> = {
    id: texts[at],
    eventId: texts[at + 1],
    eventType: texts[at + 2],
    eventSource: texts[at + 3],
    origin: texts[at + 4],
    eventData: texts[at + 5],
    idempotencyKey: texts[at + 6],
    occurredAt: occurredAt == null ? null : Number(occurredAt),
    delivery: readDelivery(texts[at + place]),
  };
  return parseNewEvent(event, `events.${index}`);
}

function readDelivery(subscription: string | null | undefined): object | undefined {
  return subscription == null ? undefined : { subscription };
}

function readColumns(texts: readonly (string | null)[], from: number): EventColumns {
  const columns: Partial<EventColumns> = {};
  let at = from;
  for (const { field } of derivedColumns) columns[field] = texts[at++] ?? null;
  return columns as EventColumns; // Safe cast: every column has been read.
}

/** Removes the columns, for message formats without them. */
export function withoutColumns(event: EventWithColumns): NewEvent {
  const { columns: _columns, ...rest } = event;
  return rest;
}

/** Checks a reply by hand, which is faster than with the decorators of `StoreEventBatchReply`. */
export function parseStoreEventBatchReply(message: unknown): StoreEventBatchReply {
  const { events, exceptions } = isJsonObject(message) ? message : {};
  if (!isCount(events)) throw ServiceError.onField('events', 'must be a number');
  if (!Array.isArray(exceptions)) throw ServiceError.onField('exceptions', 'must be a list');
  return { events, exceptions: exceptions.map(parseException) };
}

function parseException(value: unknown, place: number): StoreException {
  const { index, id, outcome } = isJsonObject(value) ? value : {};
  if (!isCount(index)) throw ServiceError.onField(`exceptions.${place}.index`, 'must be a number');
  if (typeof id !== 'string' || !uuidPattern.test(id))
    throw ServiceError.onField(`exceptions.${place}.id`, 'must be a UUID');
  const known = storeOutcomes.find((each) => each === outcome);
  if (!known)
    throw ServiceError.onField(`exceptions.${place}.outcome`, `must be one of ${storeOutcomes.join(', ')}`);
  return { index, id, outcome: known };
}

/**
 * Returns the outcome of each event of a request.
 *
 * @throws ServiceError `internal` when the reply covers more or fewer events than the request
 */
export function outcomesOf(
  events: readonly NewEvent[],
  { events: count, exceptions }: StoreEventBatchReply,
): StoreOutcome[] {
  if (count !== events.length)
    throw new ServiceError('internal', `The reply covers ${count} events instead of ${events.length}.`);
  const outcomes = events.map(({ id }): StoreOutcome => ({ id, outcome: 'stored' }));
  for (const { index, id, outcome } of exceptions) outcomes[index] = { id, outcome };
  return outcomes;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

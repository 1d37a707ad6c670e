import {
  isJsonObject,
  parseJson,
  pickEventColumns,
  receivedAt,
  type EventColumns,
  type JsonObject,
} from '@stream-events/contracts';
import type { TracedDelivery } from './traced-delivery.js';

/** The fields of a record that filters test. */
export interface RecordFields extends EventColumns {
  eventId: unknown;
  eventType: string;
  eventSource: unknown;
  origin: unknown;
}

/** An event on its way to clients. Its record is parsed only if a filter needs it, and only once. */
export class LiveEvent {
  /** The frames encoded so far, by format. Undefined until a client receives the event; many events have no recipients. */
  frames: Map<string, Buffer> | undefined;
  /** The span of its delivery, if it is part of a sampled trace. */
  delivery: TracedDelivery | undefined;
  private readFields: RecordFields | undefined;

  constructor(
    /** A UUIDv7. A test event also has this id, although the `id` in its record is null. */
    readonly id: string,
    /** The record as it was published: JSON text in UTF-8. */
    readonly record: Buffer,
    /** The epoch of the event's position on the EVENTS stream. A replay has no position: its epoch is '' and its sequence is 0. */
    readonly epoch: string,
    readonly sequence: number,
  ) {}

  /** Time when the event was received, in milliseconds since 1970. */
  get receivedAt(): number {
    return receivedAt(this.id);
  }

  get fields(): RecordFields {
    this.readFields ??= readFields(this.record);
    return this.readFields;
  }
}

function readFields(record: Buffer): RecordFields {
  const { event_id, event_type, event_source, origin, event_data } = parseRecord(record);
  const eventType = typeof event_type === 'string' ? event_type : '';
  const columns = pickEventColumns(eventType, isJsonObject(event_data) ? event_data : {});
  return { ...columns, eventId: event_id, eventType, eventSource: event_source, origin };
}

function parseRecord(record: Buffer): JsonObject {
  try {
    const parsed = parseJson(record.toString());
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    // The events service did not write this record. Treat it as empty: an exception would crash the process, and again after each restart.
    return {};
  }
}

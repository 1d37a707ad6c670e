import {
  isJsonObject,
  pickEventColumns,
  receivedAt,
  type EventColumns,
  type JsonObject,
} from '@stream-events/contracts';

/** What filters look at, read from a record. */
export interface RecordFields extends EventColumns {
  eventId: unknown;
  eventType: string;
  eventSource: unknown;
  origin: unknown;
}

/** An event on its way to clients: its record is read only where a filter asks, and once for all. */
export class LiveEvent {
  /** It as it goes out, by the formats that were asked for so far. */
  readonly frames = new Map<string, Buffer>();
  private readFields: RecordFields | undefined;

  constructor(
    /** UUIDv7, also of a test event, whose record names none. */
    readonly id: string,
    /** The record as it was published: JSON text in UTF-8. */
    readonly record: Buffer,
    /** Its place on the EVENTS stream; a replay has none: epoch '' and sequence 0. */
    readonly epoch: string,
    readonly sequence: number,
  ) {}

  /** When it was received, in milliseconds since 1970. */
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
    const parsed: unknown = JSON.parse(record.toString());
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    // Not from the events service: no filter lets it pass. It must not end the process, at each start again.
    return {};
  }
}

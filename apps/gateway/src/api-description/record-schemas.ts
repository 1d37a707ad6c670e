import type { OpenAPIObject } from '@nestjs/swagger';
import { eventOrigins, isJsonObject, replayOrigin, type JsonObject } from '@stream-events/contracts';
import { EventRecord } from '../events/events.dto.js';

/** Derives the AsyncAPI schemas of events and replays from the OpenAPI schema of the event record. */
export function describeRecords(openApi: OpenAPIObject): JsonObject {
  const schema = openApi.components?.schemas?.[EventRecord.name];
  if (!isJsonObject(schema)) throw new Error(`The OpenAPI description has no schema ${EventRecord.name}.`);
  const record = toAsyncSchema(schema);
  return {
    EventRecord: withOrigin(record, { enum: [...eventOrigins], examples: [eventOrigins[0]] }),
    ReplayedEventRecord: withOrigin(record, { const: replayOrigin, examples: [replayOrigin] }),
  };
}

/** Refers to a schema that `describeRecords` returns. */
export function recordSchema(name: 'EventRecord' | 'ReplayedEventRecord'): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Converts an OpenAPI schema for AsyncAPI 3.0, which uses JSON Schema draft 7: `example` becomes the list `examples`. */
function toAsyncSchema({ example, properties, ...schema }: JsonObject): JsonObject {
  return {
    ...schema,
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          isJsonObject(property) ? toAsyncSchema(property) : property,
        ]),
      ),
    }),
    ...(example !== undefined && { examples: [example] }),
  };
}

function withOrigin(record: JsonObject, origin: JsonObject): JsonObject {
  const properties = isJsonObject(record.properties) ? record.properties : {};
  return { ...record, properties: { ...properties, origin: { type: 'string', ...origin } } };
}

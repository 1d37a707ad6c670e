import type { JsonObject } from '@stream-events/contracts';
import { eventShapes, type Shape } from './event-shapes.js';
import type { EventType } from './event-types.js';

const dialect = 'https://json-schema.org/draft/2020-12/schema';

interface Field {
  name: string;
  isOptional: boolean;
  isNullable: boolean;
}

/**
 * Returns the JSON Schema (draft 2020-12) for events of a type. Permits additional fields, because the platform adds fields without notice.
 * An event of a batched type contains a list of events in `events`.
 */
export function schemaOf(row: EventType): JsonObject {
  const { type, version, description } = row;
  const shapes = eventShapes[`${type}/${version}`] ?? eventShapes[type] ?? {};
  const event = objectSchema(
    Object.entries(row.fields).map(([name, kind]) => {
      const [base, suffix] = splitKind(kind);
      const shape = shapes[name] ?? (base.startsWith('object') ? {} : base.replace('[]', ''));
      const isList = base.endsWith('[]') && !Array.isArray(shape);
      return [`${name}${suffix}`, isList ? ([shape] as Shape[string]) : (shape as Shape[string])];
    }),
  );
  const whole = type === 'drop.entitlement.grant' ? listOf(event) : event;
  return { $schema: dialect, title: `${type} version ${version}`, description, ...whole };
}

/** Splits a kind in the catalog's notation (`object[]?|null`) into the base kind and the suffix for the field's name. */
function splitKind(kind: string): [base: string, marks: string] {
  const base = kind.replace('|null', '').replace('?', '');
  return [base, kind.slice(base.length)];
}

function objectSchema(fields: readonly (readonly [string, Shape[string]])[]): JsonObject {
  const described = fields.map(([marked, value]) => ({ field: readField(marked), value }));
  return {
    type: 'object',
    properties: Object.fromEntries(
      described.map(({ field, value }) => [field.name, allowNull(field, schemaOfValue(value))]),
    ),
    required: described.filter(({ field }) => !field.isOptional).map(({ field }) => field.name),
  };
}

function schemaOfValue(value: Shape[string]): JsonObject {
  if (typeof value === 'string') return { type: value };
  if (isList(value)) return { type: 'array', items: schemaOfValue(value[0]) };
  return objectSchema(Object.entries(value));
}

function isList(value: Shape[string]): value is Extract<Shape[string], readonly unknown[]> {
  return Array.isArray(value);
}

function allowNull({ isNullable }: Field, schema: JsonObject): JsonObject {
  return isNullable ? { ...schema, type: [schema.type, 'null'] } : schema;
}

function readField(marked: string): Field {
  const isNullable = marked.endsWith('|null');
  const name = marked.replace('|null', '').replace('?', '');
  return { name, isNullable, isOptional: marked.slice(name.length).startsWith('?') };
}

/** Returns the schema of a batched event: an object whose list `events` contains items with the schema `item`. */
function listOf(item: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: { events: { type: 'array', items: item, minItems: 1 } },
    required: ['events'],
  };
}

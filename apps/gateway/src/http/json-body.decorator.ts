import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { getMetadataStorage, ValidateIf, validateSync, type ValidationError } from 'class-validator';
import { toValidationError } from '@stream-events/messaging';
import {
  isJsonObject,
  type JsonObjectText,
  type MessageClass,
  readJsonObject,
} from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { sentNameOf } from './field-aliases.js';
import { JsonText } from './json-text.dto.js';

const trimmedFields = new WeakMap<object, Set<string>>();
const readOnlyFields = new WeakMap<object, readonly string[]>();
// A body may bring thousands of fields; the answer stays readable.
const maxUnknownFieldsNamed = 10;

/** Marks a text field of a body that is trimmed before it is validated. */
export function Trimmed(): PropertyDecorator {
  return (target, property) => {
    const fields = trimmedFields.get(target) ?? new Set();
    trimmedFields.set(target, fields.add(String(property)));
  };
}

/** Marks a field that may be left out; null is not left out, but a value of the wrong type. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_body: object, value: unknown) => value !== undefined);
}

/**
 * Marks a body of which no field may be unknown, as a misspelt one would change what is done; the read-only fields of the
 * record that answers it are let through, so that a record may be sent back.
 */
export function RefusesUnknownFields(readOnly: readonly string[]): ClassDecorator {
  return (type) => void readOnlyFields.set(type, readOnly);
}

/** The request's body as a validated instance of a class: unknown fields are ignored or refused, nothing is coerced. */
export const JsonBody = createParamDecorator(
  (type: MessageClass<object>, context: ExecutionContext): object => {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Body: Buffer | undefined }>>();
    return parseBody(type, readJsonObject(request.body));
  },
);

/**
 * Makes a validated instance of a flat class from a JSON object.
 *
 * @throws ServiceError `invalid` with every fault by field
 */
export function parseBody<T extends object>(type: MessageClass<T>, json: JsonObjectText): T {
  const instance = new type();
  const prototype = type.prototype as object; // holds: classes have one
  for (const field of fieldsOf(type)) {
    const sentName = sentNameOf(field, json.value);
    if (sentName !== undefined)
      Object.assign(instance, { [field]: readField(json, sentName, isTrimmed(prototype, field)) });
  }
  const faults = [...validateSync(instance, { forbidUnknownValues: true }), ...unknownFieldsOf(type, json)];
  if (faults.length > 0) throw toValidationError(faults);
  return instance;
}

function unknownFieldsOf(type: MessageClass<object>, json: JsonObjectText): ValidationError[] {
  const readOnly = readOnlyFields.get(type);
  if (!readOnly) return [];
  const known = new Set([...fieldsOf(type), ...readOnly]);
  const unknown = Object.keys(json.value).filter((name) => !known.has(name));
  return unknown
    .slice(0, maxUnknownFieldsNamed)
    .map((property) => ({ property, constraints: { isKnown: 'is not a field of this request' } }));
}

function readField(json: JsonObjectText, name: string, isToTrim: boolean): unknown {
  const value = json.value[name];
  if (typeof value === 'string' && isToTrim) return value.trim();
  // Objects are kept as text: none of the API's bodies looks into one.
  return isJsonObject(value) ? new JsonText(json.memberText(name) ?? '{}') : value;
}

/** Whether a class, or one that it extends, marks the field as trimmed. */
function isTrimmed(prototype: object | null, field: string): boolean {
  if (prototype === null) return false;
  return (
    trimmedFields.get(prototype)?.has(field) === true ||
    isTrimmed(Object.getPrototypeOf(prototype) as object | null, field)
  );
}

/** The fields that a class validates. Only these are taken: `__proto__`, `constructor` and the like never are. */
function fieldsOf(type: MessageClass<object>): Set<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return new Set(rules.map((rule) => rule.propertyName));
}

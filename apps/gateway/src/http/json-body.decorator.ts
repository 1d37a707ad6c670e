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
// A body may have thousands of unknown fields. The response names only the first of these fields, so that it stays readable.
const maxUnknownFieldsNamed = 10;

/** Marks a text field of a body. The text is trimmed before validation. */
export function Trimmed(): PropertyDecorator {
  return (target, property) => {
    const fields = trimmedFields.get(target) ?? new Set();
    trimmedFields.set(target, fields.add(String(property)));
  };
}

/** Marks an optional field. Null does not count as missing, and is validated like any other value. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_body: object, value: unknown) => value !== undefined);
}

/**
 * Marks a body that rejects unknown fields, because a misspelled field would change the outcome. The body may contain the read-only
 * fields of the record, so that clients can send a record back.
 */
export function RefusesUnknownFields(readOnly: readonly string[]): ClassDecorator {
  return (type) => void readOnlyFields.set(type, readOnly);
}

/**
 * The request's body as a validated instance of a class. Ignores unknown fields, or rejects them if the class has `RefusesUnknownFields`.
 * Never coerces a value to another type.
 */
export const JsonBody = createParamDecorator(
  (type: MessageClass<object>, context: ExecutionContext): object => {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Body: Buffer | undefined }>>();
    return parseBody(type, readJsonObject(request.body));
  },
);

/** Like `JsonBody`, for an optional body. A missing body counts as an empty object. */
export const OptionalJsonBody = createParamDecorator(
  (type: MessageClass<object>, context: ExecutionContext): object => {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Body: Buffer | undefined }>>();
    const isMissing = request.body === undefined || request.body.length === 0;
    return parseBody(type, readJsonObject(isMissing ? Buffer.from('{}') : request.body));
  },
);

/**
 * Creates a validated instance of a flat class from a JSON object.
 *
 * @throws ServiceError `invalid` with all errors by field
 */
export function parseBody<T extends object>(type: MessageClass<T>, json: JsonObjectText): T {
  const instance = new type();
  const prototype = type.prototype as object; // Safe cast: every class has a prototype.
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
  // Keeps the text that the client sent, because the service stores and delivers it unchanged.
  return isJsonObject(value) ? new JsonText(json.memberText(name) ?? '{}', value) : value;
}

/** Whether a class, or a class that it extends, marks the field as trimmed. */
function isTrimmed(prototype: object | null, field: string): boolean {
  if (prototype === null) return false;
  return (
    trimmedFields.get(prototype)?.has(field) === true ||
    isTrimmed(Object.getPrototypeOf(prototype) as object | null, field)
  );
}

/** Returns the fields that a class validates. Only these fields of a body are read, and never `__proto__` or `constructor`. */
function fieldsOf(type: MessageClass<object>): Set<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return new Set(rules.map((rule) => rule.propertyName));
}

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
// A body may have thousands of unknown fields. The error names only the first ones.
const maxUnknownFieldsNamed = 10;

/** Trims a text field before validation. */
export function Trimmed(): PropertyDecorator {
  return (target, property) => {
    const fields = trimmedFields.get(target) ?? new Set();
    trimmedFields.set(target, fields.add(String(property)));
  };
}

/** Makes a field optional. Null does not count as missing: it is validated like any other value. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_body: object, value: unknown) => value !== undefined);
}

/**
 * Makes a body reject unknown fields. Use it where a misspelled field would change the outcome. The body may still contain the read-only
 * fields of the record, so that clients can send a record back.
 */
export function RefusesUnknownFields(readOnly: readonly string[]): ClassDecorator {
  return (type) => void readOnlyFields.set(type, readOnly);
}

/**
 * The request body as a validated instance of a class. Ignores unknown fields unless the class has `RefusesUnknownFields`. Never converts a
 * value to another type.
 */
export const JsonBody = createParamDecorator(
  (type: MessageClass<object>, context: ExecutionContext): object => {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Body: Buffer | undefined }>>();
    return parseBody(type, readJsonObject(request.body));
  },
);

/** Like `JsonBody`, but a missing body counts as an empty object. */
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
 * @throws ServiceError `invalid` with all errors, by field
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
  // Keep the text of nested objects exactly as sent: the service stores and delivers it unchanged.
  return isJsonObject(value) ? new JsonText(json.memberText(name) ?? '{}', value) : value;
}

/** Whether the class or one of its base classes marks the field as `Trimmed`. */
function isTrimmed(prototype: object | null, field: string): boolean {
  if (prototype === null) return false;
  return (
    trimmedFields.get(prototype)?.has(field) === true ||
    isTrimmed(Object.getPrototypeOf(prototype) as object | null, field)
  );
}

/** The fields with validation rules. Only these fields of a body are read, never `__proto__` or `constructor`. */
function fieldsOf(type: MessageClass<object>): Set<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return new Set(rules.map((rule) => rule.propertyName));
}

import { ValidateBy, type ValidationArguments } from 'class-validator';
import { readTime, timeFault } from '../http/time.js';

type RangeBody = Readonly<Record<string, unknown>>;

export function IsTime(): PropertyDecorator {
  return satisfies('isTime', timeFault, (value) => toTime(value) !== undefined);
}

/** Requires a time before the body's `until` and before now. Accepts values that are not times, because `IsTime` reports them. */
export function IsBeforeUntil(): PropertyDecorator {
  return satisfies('isBeforeUntil', 'must be in the past and before until', (value, body) => {
    const now = Date.now();
    return (toTime(value) ?? -Infinity) < Math.min(toTime(body.until) ?? now, now);
  });
}

/** Validates a field with `check`, which gets the value and the whole body. */
export function satisfies(
  name: string,
  fault: string,
  check: (value: unknown, body: RangeBody) => boolean,
): PropertyDecorator {
  const validate = (value: unknown, validation?: ValidationArguments): boolean =>
    check(value, (validation?.object ?? {}) as RangeBody); // Safe cast: the object is the body.
  return ValidateBy({ name, validator: { validate, defaultMessage: () => fault } });
}

/** Returns undefined if the value is not a time. */
export function toTime(value: unknown): number | undefined {
  return typeof value === 'string' ? readTime(value) : undefined;
}

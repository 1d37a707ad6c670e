import type { JsonObject } from '@stream-events/contracts';
import { ValidateBy } from 'class-validator';

/** The text of a JSON object, exactly as sent, and its parsed value. */
export class JsonText {
  constructor(
    readonly text: string,
    readonly value: JsonObject,
  ) {}
}

/** Accepts any JSON object. */
export function IsJsonObject(): PropertyDecorator {
  return ValidateBy({
    name: 'isJsonObject',
    validator: {
      validate: (value: unknown) => value instanceof JsonText,
      defaultMessage: () => 'must be a JSON object',
    },
  });
}

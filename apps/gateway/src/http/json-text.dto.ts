import type { JsonObject } from '@stream-events/contracts';
import { ValidateBy } from 'class-validator';

/** A JSON object: its text exactly as sent, and its parsed value. */
export class JsonText {
  constructor(
    readonly text: string,
    readonly value: JsonObject,
  ) {}
}

export function IsJsonObject(): PropertyDecorator {
  return ValidateBy({
    name: 'isJsonObject',
    validator: {
      validate: (value: unknown) => value instanceof JsonText,
      defaultMessage: () => 'must be a JSON object',
    },
  });
}

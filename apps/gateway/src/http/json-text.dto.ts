import { ValidateBy } from 'class-validator';

/** The text of a JSON object, exactly as it was sent. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Accepts a JSON object, whatever is in it. */
export function IsJsonObject(): PropertyDecorator {
  return ValidateBy({
    name: 'isJsonObject',
    validator: {
      validate: (value: unknown) => value instanceof JsonText,
      defaultMessage: () => 'must be a JSON object',
    },
  });
}

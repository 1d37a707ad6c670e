import { ValidateBy } from 'class-validator';

/** The text of a JSON object, exactly as sent. */
export class JsonText {
  constructor(readonly text: string) {}
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

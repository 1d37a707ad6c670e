import { ValidateBy, type ValidationOptions } from 'class-validator';

/** Whether PostgreSQL can store the text: no NUL characters and no unpaired surrogates. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Counts code points, like the database: an emoji is one character. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether a value is text of `min` to `max` characters that PostgreSQL can store. */
export function isTextWithin(value: unknown, min: number, max: number): value is string {
  // A character has at most two code units, so a text of more than `max` * 2 units is too long. Do not count its characters.
  if (typeof value !== 'string' || value.length > max * 2 || !isStorableText(value)) return false;
  // Nearly every text meets this condition, which implies the limits without counting characters.
  if (value.length <= max && value.length >= 2 * min) return true;
  const length = countCharacters(value);
  return length >= min && length <= max;
}

/** Validates text of `min` to `max` characters without NUL characters or unpaired surrogates. */
export function IsText(min: number, max: number, options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isText',
      constraints: [min, max],
      validator: {
        validate: (value: unknown) => isTextWithin(value, min, max),
        defaultMessage: () =>
          `must be text of ${min} to ${max} characters (no NUL character, no unpaired surrogate)`,
      },
    },
    options,
  );
}

/** Folds case. Use it for both the stored and the requested value of a filter. */
export function foldCase(text: string): string {
  // Upper case unifies forms that lower case keeps apart (final sigma, ß, ligatures). The first toLowerCase is for ẞ, whose upper case is ẞ
  // itself.
  return text.toLowerCase().toUpperCase().toLowerCase();
}

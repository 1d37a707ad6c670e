import { ValidateBy, type ValidationOptions } from 'class-validator';

/** Whether PostgreSQL can store the text: it has no NUL character and no unpaired surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Counts characters like the database, by code points: an emoji is one character. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether a value is text of `min` to `max` characters that PostgreSQL can store. */
export function isTextWithin(value: unknown, min: number, max: number): value is string {
  // A character has at most two code units, so a text of more than `max` * 2 units is too long, and its characters need not be counted.
  if (typeof value !== 'string' || value.length > max * 2 || !isStorableText(value)) return false;
  // Nearly every text meets this condition, which implies that the number of characters is within the limits, too.
  if (value.length <= max && value.length >= 2 * min) return true;
  const length = countCharacters(value);
  return length >= min && length <= max;
}

/** Validates that a field is text of `min` to `max` characters, without NUL characters and unpaired surrogates. */
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

/** Folds case for filters. The same function folds the stored value and the requested value. */
export function foldCase(text: string): string {
  // Upper case unifies forms that lower case alone keeps apart (final sigma, ß, ligatures). The first conversion to lower case is for ẞ,
  // whose upper case is ẞ itself.
  return text.toLowerCase().toUpperCase().toLowerCase();
}

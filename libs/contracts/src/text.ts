import { ValidateBy } from 'class-validator';

/** Whether every character of the text can be stored: no NUL and no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Length in characters (code points): an emoji is one, as the database counts it. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether a value is text of `min` to `max` characters that can be stored. */
export function isTextWithin(value: unknown, min: number, max: number): value is string {
  // A character has two units at most: longer text need not be counted.
  if (typeof value !== 'string' || value.length > max * 2 || !isStorableText(value)) return false;
  const length = countCharacters(value);
  return length >= min && length <= max;
}

/** Accepts text of `min` to `max` characters without NUL and without half surrogate pairs. */
export function IsText(min: number, max: number): PropertyDecorator {
  return ValidateBy({
    name: 'isText',
    constraints: [min, max],
    validator: {
      validate: (value: unknown) => isTextWithin(value, min, max),
      defaultMessage: () =>
        `must be text of ${min} to ${max} characters (no NUL character, no half of a surrogate pair)`,
    },
  });
}

/** Folds case for filters: one function when a value is written and when it is asked for. */
export function foldCase(text: string): string {
  // Upper case joins forms that lower case alone keeps apart (final sigma, ß, ligatures); lower case before it is for
  // ẞ, which is its own upper case.
  return text.toLowerCase().toUpperCase().toLowerCase();
}

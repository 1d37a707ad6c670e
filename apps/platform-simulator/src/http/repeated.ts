import { BadRequestException } from '@nestjs/common';

/** A query parameter that occurs never, once, or several times. */
export type Repeated = string | string[] | undefined;

// Maximum values per parameter (docs/platform-facts.md §4.4).
const maxValues = 100;

/**
 * Returns the distinct, non-empty values.
 *
 * @throws BadRequestException for more than 100 values
 */
export function readRepeated(name: string, value: Repeated): string[] {
  const values = [...new Set([value ?? []].flat().filter((item) => item !== ''))];
  if (values.length > maxValues) throw new BadRequestException(`at most ${maxValues} values of ${name}`);
  return values;
}

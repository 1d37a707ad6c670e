import { BadRequestException } from '@nestjs/common';

/** A query parameter that may be missing, present once, or repeated. */
export type Repeated = string | string[] | undefined;

// Maximum number of values of one parameter (docs/platform-facts.md §4.4).
const maxValues = 100;

/**
 * The distinct values of a repeated query parameter.
 *
 * @throws BadRequestException for more than 100 values
 */
export function readRepeated(name: string, value: Repeated): string[] {
  const values = [...new Set([value ?? []].flat().filter((item) => item !== ''))];
  if (values.length > maxValues) throw new BadRequestException(`at most ${maxValues} values of ${name}`);
  return values;
}

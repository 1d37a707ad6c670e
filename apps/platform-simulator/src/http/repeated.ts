import { BadRequestException } from '@nestjs/common';

/** A query parameter that may be there once, several times or not at all. */
export type Repeated = string | string[] | undefined;

// Of each parameter (docs/platform-facts.md §4.4).
const maxValues = 100;

/**
 * The values of a repeated query parameter, each once.
 *
 * @throws BadRequestException for more than 100
 */
export function readRepeated(name: string, value: Repeated): string[] {
  const values = [...new Set([value ?? []].flat().filter((item) => item !== ''))];
  if (values.length > maxValues) throw new BadRequestException(`at most ${maxValues} values of ${name}`);
  return values;
}

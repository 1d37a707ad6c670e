import type { ParseArgsConfig } from 'node:util';
import type { ControlClient } from './control-client.js';

export interface CommandInput {
  client: ControlClient;
  /** Positional arguments. The parser has checked their number against `Command.words`. */
  words: string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
}

/** One command: a row of the table in commands.ts. */
export interface Command {
  /** Arguments in the help text: `<required>`, `[optional]`. */
  usage: string;
  /** Allowed number of positional arguments. */
  words: readonly [least: number, most: number];
  help: string;
  /** Options by name. A `string` option takes a value. */
  options: Readonly<Record<string, { type: 'string' | 'boolean'; help: string }>>;
  /** Returns the lines to print. */
  run(input: CommandInput): Promise<string[]>;
}

/** Converts the options to the format of `parseArgs`. */
export function optionsOf({ options }: Command): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type }]));
}

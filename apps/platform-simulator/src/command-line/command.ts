import type { ParseArgsConfig } from 'node:util';
import type { ControlClient } from './control-client.js';

/** The arguments of a command. */
export interface CommandInput {
  client: ControlClient;
  /** Positional arguments; their number is within `Command.words`. */
  words: string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
}

/** One command: a row of the table in commands.ts. */
export interface Command {
  /** The arguments as help shows them: `<required>`, `[optional]`. */
  usage: string;
  /** The minimum and maximum number of positional arguments. */
  words: readonly [least: number, most: number];
  help: string;
  /** Options by name. Options of type `string` have a value. */
  options: Readonly<Record<string, { type: 'string' | 'boolean'; help: string }>>;
  /** Runs the command and returns the lines to print. */
  run(input: CommandInput): Promise<string[]>;
}

/** The options of a command in the form that `parseArgs` expects. */
export function optionsOf({ options }: Command): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type }]));
}

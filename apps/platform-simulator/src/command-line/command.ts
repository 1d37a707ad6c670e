import type { ParseArgsConfig } from 'node:util';
import type { ControlClient } from './control-client.js';

/** What was given on the command line. */
export interface CommandInput {
  client: ControlClient;
  /** What stands without a dash, as many as the command takes. */
  words: string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
}

/** One command: a row of the table in commands.ts. */
export interface Command {
  /** What stands after the name: `<login>`; in brackets what may be missing. */
  usage: string;
  /** How many words it takes, at least and at most. */
  words: readonly [least: number, most: number];
  help: string;
  /** Whether they take a value, and what it means. */
  options: Readonly<Record<string, { type: 'string' | 'boolean'; help: string }>>;
  /** Does it and gives the lines that tell what came of it. */
  run(input: CommandInput): Promise<string[]>;
}

/** The options of a command as node:util reads them. */
export function optionsOf({ options }: Command): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type }]));
}

import { CommandError, type ControlClient } from './control-client.js';

export interface CommandInput {
  client: ControlClient;
  /** Positional arguments. The parser has checked their number against `Command.words`. */
  words: string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
}

/** One command: a row of the table in commands.ts. */
export interface Command {
  help: string;
  /** Arguments in the help text: `<required>`, `[optional]`. */
  usage?: string;
  /** Allowed number of positional arguments. Default: none. */
  words?: readonly [least: number, most: number];
  /** Meaning of each option that takes a value. */
  options?: Readonly<Record<string, string>>;
  /** Meaning of each option without a value. */
  flags?: Readonly<Record<string, string>>;
  /** Returns the lines to print. */
  run(input: CommandInput): Promise<string[]>;
}

type Options = CommandInput['options'];

/** Returns undefined if the option is missing. @throws CommandError if the value is not a number */
export function readNumber(options: Options, name: string): number | undefined {
  const text = options[name];
  if (typeof text !== 'string') return undefined;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new CommandError(`--${name} must be a number`);
  return number;
}

/** Reads number options into fields with the same names, such as `rate_limit` for `--rate-limit`. */
export function readNumbers(options: Options, names: readonly string[]): Record<string, number | undefined> {
  return Object.fromEntries(
    names.map((name) => [name.replaceAll('-', '_'), readNumber(options, name)] as const),
  );
}

/** Returns undefined if the option is missing. @throws CommandError if the value is not a JSON object */
export function readJson(options: Options, name: string): object | undefined {
  const text = options[name];
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Handle invalid JSON below, with the same error as JSON that is not an object.
  }
  throw new CommandError(`--${name} must be a JSON object, such as '{"bits": 100}'`);
}

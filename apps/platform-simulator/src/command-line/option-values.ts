import type { CommandInput } from './command.js';
import { CommandError } from './control-client.js';

type Options = CommandInput['options'];

/** Returns undefined if the option is missing. @throws CommandError if the value is not a number */
export function readNumber(options: Options, name: string): number | undefined {
  const text = options[name];
  if (typeof text !== 'string') return undefined;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new CommandError(`--${name} must be a number`);
  return number;
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

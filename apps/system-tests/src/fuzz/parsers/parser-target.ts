import { ServiceError } from '@stream-events/contracts';
import type { InputSource } from '../corpus.js';

/** A parser that the test calls directly with many inputs. */
export interface ParserTarget extends InputSource {
  name: string;
  description: string;
  /**
   * Parses an input.
   *
   * @returns the outcome, such as `accepted` or `refused`
   * @throws for a defect: an error that the parser does not promise, or a result that breaks a property
   */
  run(input: Buffer): string | Promise<string>;
}

/** Returns the result of a parser, or undefined when the parser refuses the input with the promised error `invalid`. */
export function attempt<T>(parse: () => T, codes: readonly string[] = ['invalid']): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ServiceError && codes.includes(error.code)) {
      expectSoundError(error);
      return undefined;
    }
    throw error;
  }
}

/** Throws unless the error has a message, and can be sent to clients as JSON. */
function expectSoundError(error: ServiceError): void {
  if (error.detail.trim() === '') throw new Error('the error has no detail');
  JSON.parse(JSON.stringify(error.toMessage()));
}

/** @throws when two values print differently */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}

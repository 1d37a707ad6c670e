import { ServiceError } from '@stream-events/contracts';
import type { InputSource } from '../corpus.js';

/** A parser that is called directly with many inputs. */
export interface ParserTarget extends InputSource {
  name: string;
  description: string;
  /**
   * Parses an input.
   *
   * @returns what the parser made of it: `accepted`, `refused`, or another outcome
   * @throws for a defect: any error that the parser does not promise, or a broken property of its result
   */
  run(input: Buffer): string | Promise<string>;
}

/** Returns what a parser returns, or undefined when it refuses the input as it promises: with the error `invalid`. */
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

/** An error reaches clients as JSON, with a text that says what to do. */
function expectSoundError(error: ServiceError): void {
  if (error.detail.trim() === '') throw new Error('the error has no detail');
  JSON.parse(JSON.stringify(error.toMessage()));
}

/** @throws when two values print differently */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}

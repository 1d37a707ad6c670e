import { ServiceError } from '@stream-events/contracts';
import type { InputSource } from '../corpus.js';

/** A parser that the test calls directly. */
export interface ParserTarget extends InputSource {
  name: string;
  description: string;
  /**
   * Parses an input.
   *
   * @returns the outcome, such as `accepted` or `refused`
   * @throws Error for a defect: an undocumented error, or a result that breaks a property
   */
  run(input: Buffer): string | Promise<string>;
}

/** Returns undefined if the parser refuses the input with an expected error (default: `invalid`). */
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

/** Throws if the error lacks a message or cannot be sent as JSON. */
function expectSoundError(error: ServiceError): void {
  if (error.detail.trim() === '') throw new Error('the error has no detail');
  JSON.parse(JSON.stringify(error.toMessage()));
}

/** @throws Error if the values differ as JSON */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}

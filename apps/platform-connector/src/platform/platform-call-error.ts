import { PlatformUnavailableError } from './platform.js';

/** How a call can fail that got no answer to use. */
export type CallFailure =
  'timeout' | 'connection_failed' | 'server_error' | 'malformed' | 'too_large' | 'wrong_platform';

// What fails of itself is often well again soon; callers that wait for longer have schedules of their own.
const retryAfterSeconds = 5;

/** A call got no answer, or none to use. */
export class PlatformCallError extends PlatformUnavailableError {
  constructor(
    readonly failure: CallFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, retryAfterSeconds, options);
  }

  /** Whether another attempt may fare better. */
  get isTransient(): boolean {
    return this.failure !== 'wrong_platform' && this.failure !== 'too_large';
  }
}

/** An answer that is not what the platform's documentation says. */
export function malformed(what: string): PlatformCallError {
  return new PlatformCallError('malformed', `The platform's answer makes no sense: ${what}.`);
}

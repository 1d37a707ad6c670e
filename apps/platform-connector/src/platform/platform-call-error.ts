import { PlatformUnavailableError } from './platform.js';

/** How a call can fail that got no answer to use. */
export type CallFailure =
  | 'timeout'
  | 'connection_failed'
  | 'server_error'
  | 'malformed'
  | 'too_large'
  | 'wrong_platform'
  | 'unexpected_status';

const transientFailures: readonly CallFailure[] = [
  'timeout',
  'connection_failed',
  'server_error',
  'malformed',
];

// What fails of itself is often well again soon; callers that wait for longer have schedules of their own.
const retryAfterSeconds = 5;
// A status that the documentation does not name: something else than the platform answers, or it has changed.
const unexpectedRetrySeconds = 60;

/** A call got no answer, or none to use: that one; others may fare better. */
export class PlatformCallError extends PlatformUnavailableError {
  constructor(
    readonly failure: CallFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, failure === 'unexpected_status' ? unexpectedRetrySeconds : retryAfterSeconds, options);
  }

  /** Whether another attempt may fare better. */
  get isTransient(): boolean {
    return transientFailures.includes(this.failure);
  }
}

/** An answer that is not what the platform's documentation says. */
export function malformed(what: string): PlatformCallError {
  return new PlatformCallError('malformed', `The platform's answer makes no sense: ${what}.`);
}

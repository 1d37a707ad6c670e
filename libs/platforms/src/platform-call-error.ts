/** The platform is currently unavailable. Contains the reason, and the number of seconds after which a retry makes sense. */
export class PlatformUnavailableError extends Error {
  override readonly name = 'PlatformUnavailableError';

  constructor(
    message: string,
    readonly retryAfterSeconds: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The reason why a call got no usable reply. */
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

// Most failures end within seconds. Callers that can wait longer have their own schedules.
const retryAfterSeconds = 5;
// For a status that the platform's documentation does not list. Longer, because another server has replied or the platform has changed.
const unexpectedRetrySeconds = 60;

/** One call got no usable reply. Other calls may succeed. */
export class PlatformCallError extends PlatformUnavailableError {
  constructor(
    readonly failure: CallFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, failure === 'unexpected_status' ? unexpectedRetrySeconds : retryAfterSeconds, options);
  }

  /** Whether another attempt may succeed. */
  get isTransient(): boolean {
    return transientFailures.includes(this.failure);
  }
}

/** Creates the error for a reply that differs from the platform's documentation. */
export function malformed(what: string): PlatformCallError {
  return new PlatformCallError('malformed', `The platform sent a malformed reply: ${what}.`);
}

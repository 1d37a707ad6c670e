/** The platform is unavailable. The message says why; `retryAfterSeconds` says when a retry makes sense. */
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

/** Why a call got no usable reply. */
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

// The wait after most failures, which end within seconds. Callers that can wait longer have their own schedules.
const retryAfterSeconds = 5;
// The wait after a status that the service does not expect for the call. It is longer, because the next attempt will probably fail too: the
// configuration is wrong, another server replied, or the platform has changed.
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

/** Returns the error for a reply that does not match the platform's documentation. */
export function malformed(what: string): PlatformCallError {
  return new PlatformCallError('malformed', `The platform sent a malformed reply: ${what}.`);
}

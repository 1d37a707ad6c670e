/**
 * Every failure that one part of the system reports to another, in one place: its code on the wire,
 * the HTTP status it becomes at the edge and the level it is logged with.
 */
export const errorCatalogue = {
  invalid: { status: 400, title: 'Bad Request', logLevel: 'debug' },
  unauthenticated: { status: 401, title: 'Unauthorized', logLevel: 'debug' },
  forbidden: { status: 403, title: 'Forbidden', logLevel: 'debug' },
  not_found: { status: 404, title: 'Not Found', logLevel: 'debug' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed', logLevel: 'debug' },
  conflict: { status: 409, title: 'Conflict', logLevel: 'debug' },
  too_large: { status: 413, title: 'Content Too Large', logLevel: 'debug' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type', logLevel: 'debug' },
  upgrade_required: { status: 426, title: 'Upgrade Required', logLevel: 'debug' },
  too_many_requests: { status: 429, title: 'Too Many Requests', logLevel: 'debug' },
  internal: { status: 500, title: 'Internal Server Error', logLevel: 'error' },
  unavailable: { status: 503, title: 'Service Unavailable', logLevel: 'warn' },
} as const;

/** The code of a failure, as it crosses NATS. */
export type ErrorCode = keyof typeof errorCatalogue;

/** Messages of a validation error by field name: `{ "event_type": ["must be text of 1 to 255 characters"] }`. */
export type FieldErrors = Record<string, string[]>;

/** What an error may carry besides its code and detail. */
export interface ErrorExtras {
  /** Faults by field, for `invalid`. */
  errors?: FieldErrors;
  /** Seconds after which trying again makes sense, for `unavailable` and `too_many_requests`. */
  retryAfterSeconds?: number;
  /** Methods that the path has, for `method_not_allowed`. */
  allow?: string[];
  cause?: unknown;
}

/** The shape of an error on the wire between services. */
export interface ErrorMessage {
  code: ErrorCode;
  detail: string;
  errors?: FieldErrors;
  retryAfterSeconds?: number;
}

/** A failure that its receiver can act on. `detail` is read by API clients: say what was tried and what to do. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly errors: FieldErrors | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string[] | undefined;

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    extras: ErrorExtras = {},
  ) {
    super(detail, { cause: extras.cause });
    this.errors = extras.errors;
    this.retryAfterSeconds = extras.retryAfterSeconds ?? (code === 'unavailable' ? 1 : undefined);
    this.allow = extras.allow;
  }

  /** The error as it crosses NATS; `allow` and the cause stay at home. */
  toMessage(): ErrorMessage {
    return {
      code: this.code,
      detail: this.detail,
      ...(this.errors && { errors: this.errors }),
      ...(this.retryAfterSeconds !== undefined && { retryAfterSeconds: this.retryAfterSeconds }),
    };
  }

  /** The error that a service answered with; anything that is not one of ours becomes `internal`. */
  static fromMessage(message: unknown): ServiceError {
    if (!isErrorMessage(message)) return new ServiceError('internal', 'A service failed unexpectedly.');
    return new ServiceError(message.code, message.detail, message);
  }

  /** A validation error on one field. */
  static onField(field: string, message: string): ServiceError {
    return new ServiceError('invalid', `${field}: ${message}`, { errors: { [field]: [message] } });
  }
}

function isErrorMessage(value: unknown): value is ErrorMessage {
  if (typeof value !== 'object' || value === null || !('code' in value) || !('detail' in value)) return false;
  return (
    typeof value.code === 'string' &&
    Object.hasOwn(errorCatalogue, value.code) &&
    typeof value.detail === 'string'
  );
}

/**
 * All failures that one part of the system reports to another. The key is the code on the wire; `status` is the HTTP status at the edge.
 */
export const errorCatalogue = {
  invalid: { status: 400, title: 'Bad Request', logLevel: 'debug' },
  unauthenticated: { status: 401, title: 'Unauthorized', logLevel: 'debug' },
  forbidden: { status: 403, title: 'Forbidden', logLevel: 'debug' },
  not_found: { status: 404, title: 'Not Found', logLevel: 'debug' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed', logLevel: 'debug' },
  request_timeout: { status: 408, title: 'Request Timeout', logLevel: 'debug' },
  conflict: { status: 409, title: 'Conflict', logLevel: 'debug' },
  too_large: { status: 413, title: 'Content Too Large', logLevel: 'debug' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type', logLevel: 'debug' },
  upgrade_required: { status: 426, title: 'Upgrade Required', logLevel: 'debug' },
  too_many_requests: { status: 429, title: 'Too Many Requests', logLevel: 'debug' },
  internal: { status: 500, title: 'Internal Server Error', logLevel: 'error' },
  unavailable: { status: 503, title: 'Service Unavailable', logLevel: 'warn' },
} as const;

/** Error code on the wire. */
export type ErrorCode = keyof typeof errorCatalogue;

/** Validation messages by field name: `{ "event_type": ["must be text of 1 to 255 characters"] }`. */
export type FieldErrors = Record<string, string[]>;

/** Optional parts of an error. */
export interface ErrorExtras {
  /** Messages by field, for `invalid`. */
  errors?: FieldErrors;
  /** Seconds until a retry makes sense, for `unavailable` and `too_many_requests`. */
  retryAfterSeconds?: number;
  /** Whether the request may have been carried out in spite of the error. */
  isUncertain?: boolean;
  /** Methods that the path supports, for `method_not_allowed`. */
  allow?: string[];
  cause?: unknown;
}

/** An error on the wire between services. */
export interface ErrorMessage {
  code: ErrorCode;
  detail: string;
  errors?: FieldErrors;
  retryAfterSeconds?: number;
  isUncertain?: boolean;
}

/** A failure that the receiver can act on. API clients read `detail`, so it must say what was tried and what to do. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly errors: FieldErrors | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isUncertain: boolean;
  readonly allow: string[] | undefined;

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    extras: ErrorExtras = {},
  ) {
    super(detail, { cause: extras.cause });
    this.errors = extras.errors;
    this.retryAfterSeconds = extras.retryAfterSeconds ?? (code === 'unavailable' ? 1 : undefined);
    this.isUncertain = extras.isUncertain ?? false;
    this.allow = extras.allow;
  }

  /** Returns the error for other services, without `allow` and the cause. */
  toMessage(): ErrorMessage {
    return {
      code: this.code,
      detail: this.detail,
      ...(this.errors && { errors: this.errors }),
      ...(this.retryAfterSeconds !== undefined && { retryAfterSeconds: this.retryAfterSeconds }),
      ...(this.isUncertain && { isUncertain: true }),
    };
  }

  /** Recreates an error from a service's reply. A reply that is not an `ErrorMessage` becomes `internal`. */
  static fromMessage(message: unknown): ServiceError {
    if (!isErrorMessage(message)) return new ServiceError('internal', 'A service failed unexpectedly.');
    return new ServiceError(message.code, message.detail, message);
  }

  /** Creates a validation error for one field. */
  static onField(field: string, message: string): ServiceError {
    return ServiceError.onFields({ [field]: [message] });
  }

  /** Creates a validation error for several fields. `detail` lists all messages. */
  static onFields(errors: FieldErrors): ServiceError {
    const faults = Object.entries(errors).map(([field, messages]) => `${field}: ${messages.join(', ')}`);
    return new ServiceError('invalid', faults.join('; '), { errors });
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

import { ServiceError } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import { PlatformUnavailableError } from '@stream-events/platforms';

/** Returns the error for a client's call that was sent but got no usable reply. */
export function toUncertain(error: PlatformUnavailableError): ServiceError {
  const { message, retryAfterSeconds } = error;
  const detail = `${message} The platform may or may not have carried out the call.`;
  return new ServiceError('unavailable', detail, { retryAfterSeconds, isUncertain: true, cause: error });
}

/** Converts a platform or database error to the error that the reply sends. Returns other errors unchanged. */
export function toReplyError(error: unknown): unknown {
  if (!(error instanceof PlatformUnavailableError)) return toUnavailable(error);
  const { message, retryAfterSeconds } = error;
  return new ServiceError('unavailable', message, { retryAfterSeconds, cause: error });
}

import { ServiceError } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import { PlatformUnavailableError } from '@stream-events/platforms';

/** Converts a platform or database error to the error that the reply sends. Returns other errors unchanged. */
export function toReplyError(error: unknown): unknown {
  if (!(error instanceof PlatformUnavailableError)) return toUnavailable(error);
  const { message, retryAfterSeconds } = error;
  return new ServiceError('unavailable', message, { retryAfterSeconds, cause: error });
}

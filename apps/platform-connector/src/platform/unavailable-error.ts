import { ServiceError } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import { PlatformUnavailableError } from '@stream-events/platforms';

/** Turns a platform or database error into an error for the reply. Returns other errors unchanged. */
export function toReplyError(error: unknown): unknown {
  if (!(error instanceof PlatformUnavailableError)) return toUnavailable(error);
  const { message, retryAfterSeconds } = error;
  return new ServiceError('unavailable', message, { retryAfterSeconds, cause: error });
}

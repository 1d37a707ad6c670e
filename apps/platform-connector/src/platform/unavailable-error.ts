import { ServiceError } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import { PlatformUnavailableError } from '@stream-events/platforms';

/** The error that the service answers with when the platform, or its database, is away; any other error as it is. */
export function toServiceError(error: unknown): unknown {
  if (!(error instanceof PlatformUnavailableError)) return toUnavailable(error);
  const { message, retryAfterSeconds } = error;
  return new ServiceError('unavailable', message, { retryAfterSeconds, cause: error });
}

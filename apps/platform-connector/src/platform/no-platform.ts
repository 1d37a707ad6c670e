import { PlatformUnavailableError, type Platform } from './platform.js';

// Nothing changes until the service is started with another configuration.
const retryAfterSeconds = 3_600;

/** Stands where there is no platform (`PLATFORM=none`): nothing can be asked. */
export class NoPlatform implements Platform {
  lookUpUsers = refuse;
  lookUpStreams = refuse;
  listSubscriptions = refuse;
  createSubscription = refuse;
  deleteSubscription = refuse;
}

function refuse(): Promise<never> {
  return Promise.reject(
    new PlatformUnavailableError('No platform is configured (PLATFORM is none).', retryAfterSeconds),
  );
}

import type { OutboundPlatform } from './outbound-platform.js';
import { PlatformUnavailableError } from './platform-call-error.js';

// Retrying helps only after the service has restarted with another configuration.
const retryAfterSeconds = 3_600;

/** The outbound side of `PLATFORM=none`: every call fails. */
export function createNoPlatform(): OutboundPlatform {
  return {
    lookUpUsers: refuse,
    lookUpStreams: refuse,
    listSubscriptions: refuse,
    createSubscription: refuse,
    deleteSubscription: refuse,
    listAuthorizations: refuse,
    listConduits: refuse,
    createConduit: refuse,
    resizeConduit: refuse,
    deleteConduit: refuse,
    listShards: refuse,
    assignShard: refuse,
    lookUpPictures: refuse,
  };
}

function refuse(): Promise<never> {
  return Promise.reject(
    new PlatformUnavailableError('No platform is configured (PLATFORM is none).', retryAfterSeconds),
  );
}

import { PlatformUnavailableError, type Platform } from './platform.js';

/** No platform at all: what it is asked is never answered. */
export class AbsentPlatform implements Platform {
  lookUpUsers(): Promise<never> {
    return refuse();
  }

  lookUpStreams(): Promise<never> {
    return refuse();
  }

  listSubscriptions(): Promise<never> {
    return refuse();
  }

  createSubscription(): Promise<never> {
    return refuse();
  }

  deleteSubscription(): Promise<never> {
    return refuse();
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new PlatformUnavailableError('no platform is configured', 60));
}

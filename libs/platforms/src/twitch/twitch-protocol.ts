import type { PlatformProtocol } from '../outbound-platform.js';
import { readErrorMessage } from './errors.external.js';
import { isRateLimited, readRateLimit, readResetMs } from './rate-limit.external.js';
import { isCredentialsRefusal, readToken, toTokenRequest } from './token.external.js';

/** The parts that all calls to Twitch's API share (FACTS.md §4.1 to §4.3). */
export const twitchProtocol: PlatformProtocol = {
  tokenRequest: toTokenRequest,
  isCredentialsRefusal,
  readToken,
  authorize: (token, clientId) => ({ authorization: `Bearer ${token}`, 'client-id': clientId }),
  readRateLimit,
  isRateLimited,
  readResetMs,
  passedHeaders: ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after'],
  readErrorMessage,
};

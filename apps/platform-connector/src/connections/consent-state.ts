import { consentStates, type ConsentState } from '@stream-events/contracts';
import {
  authorizationRevoked,
  enabled,
  limitReached,
  notGranted,
  verificationPending,
  waiting,
} from '../subscriptions/own-subscription.js';

/** What decides the consent state of a subscription. */
export interface ConsentFacts {
  status: string;
  /** Whether a user in the condition was connected, and the platform then ended the consent. */
  isEnded: boolean;
}

/** Returns whether the events of a subscription arrive and, if they do not, why. */
export function consentStateOf({ status, isEnded }: ConsentFacts): ConsentState {
  switch (status) {
    case enabled:
      return 'granted';
    case waiting:
    case verificationPending:
      return 'waiting';
    case limitReached:
      return 'no_capacity';
    case authorizationRevoked:
      return 'revoked';
    case notGranted:
      return isEnded ? 'revoked' : 'missing';
    default:
      // Treat an unknown status as refused: no events arrive. The platform may add statuses without notice.
      return 'refused';
  }
}

// Safe cast: the keys are the states.
const worstFirst = Object.keys(consentStates) as ConsentState[];

/** Returns the worst of these states. Used when a type has several subscriptions for one channel. */
export function worstOf(states: readonly ConsentState[]): ConsentState | undefined {
  return worstFirst.find((state) => states.includes(state));
}

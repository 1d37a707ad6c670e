import { consentStates, type ConsentState } from '@stream-events/contracts';
import {
  authorizationRevoked,
  enabled,
  limitReached,
  notGranted,
  verificationPending,
  waiting,
} from '../subscriptions/own-subscription.js';

/** The inputs that decide the consent state of a subscription. */
export interface ConsentFacts {
  status: string;
  /** Whether a user in the condition was connected and has withdrawn consent. */
  isEnded: boolean;
}

/** Returns whether the events of a subscription arrive, and if not, why. */
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
      // The platform may add statuses without notice. An unknown status means that no events arrive.
      return 'refused';
  }
}

// Safe cast: the names are the keys.
const worstFirst = Object.keys(consentStates) as ConsentState[];

/** Returns the state that needs the most attention, for a type with several subscriptions for a channel. */
export function worstOf(states: readonly ConsentState[]): ConsentState | undefined {
  return worstFirst.find((state) => states.includes(state));
}

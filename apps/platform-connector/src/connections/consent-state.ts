import { consentStates, type ConsentState } from '@stream-events/contracts';
import {
  authorizationRevoked,
  enabled,
  limitReached,
  notGranted,
  verificationPending,
  waiting,
} from '../subscriptions/own-subscription.js';

/** What decides about the consent to a subscription. */
export interface ConsentFacts {
  status: string;
  /** Whether a user of the condition was connected and has ended the consent. */
  isEnded: boolean;
}

/** Says whether the events of a subscription arrive, and if not, why. */
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
      // The platform may add statuses without notice. Every one that is not known means that no events arrive.
      return 'refused';
  }
}

// Safe cast: the names are the keys.
const worstFirst = Object.keys(consentStates) as ConsentState[];

/** A type with several subscriptions about a channel has the state of the one that needs most attention. */
export function worstOf(states: readonly ConsentState[]): ConsentState | undefined {
  return worstFirst.find((state) => states.includes(state));
}

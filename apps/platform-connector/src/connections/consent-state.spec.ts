import { consentStates } from '@stream-events/contracts';
import { consentStateOf, worstOf } from './consent-state.js';

const cases = [
  ['enabled', 'granted'],
  ['waiting', 'waiting'],
  ['webhook_callback_verification_pending', 'waiting'],
  ['limit_reached', 'no_capacity'],
  ['not_granted', 'missing'],
  ['authorization_revoked', 'revoked'],
  ['refused', 'refused'],
  ['webhook_callback_verification_failed', 'refused'],
  ['a_status_that_the_platform_has_added', 'refused'],
] as const;

describe(consentStateOf.name, () => {
  it.each(cases)('derives from the status %s that it is %s', (status, state) => {
    expect(consentStateOf({ status, isEnded: false })).toBe(state);
  });

  it('tells a consent that was ended from one that was never given', () => {
    expect(consentStateOf({ status: 'not_granted', isEnded: true })).toBe('revoked');
    // The platform keeps a subscription even when the token is lost.
    expect(consentStateOf({ status: 'enabled', isEnded: true })).toBe('granted');
  });

  it('has a case for each state', () => {
    const states = new Set<string>(cases.map(([, state]) => state));
    expect([...states].sort()).toEqual(Object.keys(consentStates).sort());
  });
});

describe(worstOf.name, () => {
  it('takes the state that needs most attention', () => {
    expect(worstOf(['granted', 'missing', 'waiting'])).toBe('missing');
    expect(worstOf(['granted', 'waiting'])).toBe('waiting');
    expect(worstOf([])).toBeUndefined();
  });
});

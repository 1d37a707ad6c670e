import { newOwn } from '../../test/subscription-factory.js';
import { denied, notGranted, type OwnSubscription } from '../subscriptions/own-subscription.js';
import type { Consent } from '../grants/consent.js';
import { applyConsent, type WantedRow } from './apply-consent.js';

const now = 1_000_000_000;
const unknown: Consent = { kind: 'unknown', channelId: '1' };
const missing: Consent = { kind: 'missing', remedy: 'connect it' };

const row = (type: string, consent: Consent, overrides: Partial<OwnSubscription> = {}): WantedRow => ({
  own: newOwn('1', { type, ...overrides }),
  cost: 0,
  expectedCost: 0,
  consent,
});
const deniedRow = (type: string, consent: Consent, at = now): WantedRow => {
  const { own, ...rest } = row(type, consent);
  return { ...rest, own: denied(own, { reason: 'HTTP 403', now: at }) };
};
/** Returns the types that may be created or kept, and the changed types with their new statuses. */
const apply = (...rows: WantedRow[]) => {
  const { rows: permitted, changed } = applyConsent(rows, now);
  return {
    permitted: permitted.map(({ own }) => own.type),
    changed: changed.map(({ type, status, reason }) => [type, status, reason]),
  };
};

describe('applyConsent', () => {
  it('permits what is granted, and shows what to do about the rest', () => {
    expect(apply(row('a', { kind: 'given' }), row('b', missing), row('c', { kind: 'unlisted' }))).toEqual({
      permitted: ['a'],
      changed: [['b', notGranted, 'connect it']],
    });
  });

  it('changes nothing when nothing has changed', () => {
    const held = row('a', missing, { status: notGranted, reason: 'connect it' });
    expect(apply(held)).toEqual({ permitted: [], changed: [] });
  });

  it('keeps what exists on the platform', () => {
    expect(apply(row('a', missing, { subscriptionId: 'x', status: 'enabled' }))).toEqual({
      permitted: ['a'],
      changed: [],
    });
  });

  it('permits what was held back when the consent is given', () => {
    expect(apply(row('a', { kind: 'given' }, { status: notGranted, reason: 'connect it' }))).toEqual({
      permitted: ['a'],
      changed: [['a', 'waiting', null]],
    });
  });

  it('does not repeat what the platform has refused, for a day', () => {
    expect(apply(deniedRow('a', { kind: 'given' }))).toEqual({ permitted: [], changed: [] });
    expect(apply(deniedRow('a', { kind: 'given' }, now - 25 * 3_600_000)).permitted).toEqual(['a']);
  });

  describe('when the platform does not tell what is granted', () => {
    it('tries one subscription of a channel', () => {
      expect(apply(row('a', unknown), row('b', unknown)).permitted).toEqual(['a']);
    });

    it('creates the others when the first one works', () => {
      const working = row('a', unknown, { subscriptionId: 'x', status: 'enabled' });
      expect(apply(working, row('b', unknown), row('c', unknown)).permitted).toEqual(['a', 'b', 'c']);
    });

    it('holds the others back when the first one is refused, but not those of other channels', () => {
      const other = row('c', { kind: 'unknown', channelId: '2' });
      expect(apply(deniedRow('a', unknown), row('b', unknown), other)).toEqual({
        permitted: ['c'],
        changed: [['b', notGranted, 'HTTP 403']],
      });
    });
  });
});

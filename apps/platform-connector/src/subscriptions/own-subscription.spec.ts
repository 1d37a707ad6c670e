import { callback, newOwn, newListed, webhook } from '../../test/subscription-factory.js';
import { alreadyExists, ended, observed, pauseAfter, turnedDown, vanished } from './own-subscription.js';

const minute = 60_000;

describe('pauseAfter', () => {
  it('grows from 1 min to 1 h', () => {
    expect([0, 1, 2, 3, 7, 60].map(pauseAfter)).toEqual([0, minute, 2 * minute, 4 * minute, 60 * minute, 60 * minute]); // prettier-ignore
  });
});

describe('ended', () => {
  it('immediately recreates a subscription that had worked for 10 min, even if it failed often before', () => {
    const own = newOwn('1', { status: 'enabled', statusSince: 0, attempts: 5 });
    const after = ended(own, { status: 'user_removed', reason: '' }, 10 * minute);
    expect(after).toMatchObject({ status: 'user_removed', attempts: 1, retryAt: 10 * minute });
  });

  it('recreates immediately after the first failure, then after growing pauses', () => {
    const pauses: number[] = [];
    let own = newOwn('1', {});
    for (let failure = 0; failure < 4; failure += 1) {
      own = observed(own, newListed(own, { status: 'webhook_callback_verification_pending' }), 0);
      own = observed(own, newListed(own, { status: 'webhook_callback_verification_failed' }), 0);
      pauses.push(own.retryAt!);
    }
    expect(pauses).toEqual([0, minute, 2 * minute, 4 * minute]);
  });
});

describe('vanished', () => {
  it.each(['enabled', 'webhook_callback_verification_pending'])(
    'recreates a subscription that was %s immediately up to five times in a row, then after growing pauses',
    (status) => {
      const pauses: number[] = [];
      let own = newOwn('1', {});
      for (let time = 0; time < 8; time += 1) {
        own = vanished(observed(own, newListed(own, { status }), 0), 0);
        pauses.push(own.retryAt!);
      }
      expect(pauses).toEqual([0, 0, 0, 0, 0, minute, 2 * minute, 4 * minute]);
      expect(own).toMatchObject({ subscriptionId: null, status: 'waiting' });
    },
  );

  it('keeps the pause of a subscription that had ended before', () => {
    const own = newOwn('1', {
      subscriptionId: 'a',
      status: 'user_removed',
      attempts: 2,
      retryAt: 2 * minute,
    });
    expect(vanished(own, minute)).toEqual({ ...own, subscriptionId: null });
  });
});

describe('observed', () => {
  it('changes nothing when nothing has changed', () => {
    const own = newOwn('1', {
      subscriptionId: 'a',
      transport: webhook(callback),
      status: 'enabled',
      cost: 1,
    });
    expect(observed(own, newListed(own, { id: 'a', status: 'enabled', cost: 1 }), 5)).toBe(own);
    expect(observed(own, newListed(own, { id: 'a', status: 'enabled', cost: 0 }), 5)).toEqual({
      ...own,
      cost: 0,
    });
  });
});

describe('observed after refusals', () => {
  it('forgets refusals with the first creation, and counts losses from then on', () => {
    const refused = newOwn('1', { status: 'refused', attempts: 6, retryAt: minute });
    const created = observed(refused, newListed(refused), minute);
    expect(created).toMatchObject({ status: 'enabled', attempts: 0, retryAt: null });
    const recreated = observed(vanished(created, 2 * minute), newListed(refused, { id: 'next' }), 2 * minute);
    expect(recreated).toMatchObject({ status: 'enabled', attempts: 1 });
  });
});

describe('turnedDown', () => {
  it('retries after 1 min, then after longer pauses', () => {
    const once = turnedDown(newOwn('1', {}), 'refused', { reason: 'no', now: 0 });
    const twice = turnedDown(once, 'refused', { reason: 'no', now: once.retryAt! });
    expect([once.retryAt, twice.retryAt]).toEqual([minute, 3 * minute]);
  });
});

describe('alreadyExists', () => {
  it('waits for the subscription to appear in a listing, and becomes refused when it does not', () => {
    const once = alreadyExists(newOwn('1', {}), 0);
    expect(once).toMatchObject({ status: 'waiting', retryAt: minute });
    expect(alreadyExists(once, minute)).toMatchObject({ status: 'refused', retryAt: 3 * minute });
  });
});

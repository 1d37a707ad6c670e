import { newOwn, newListed } from '../../test/subscription-factory.js';
import {
  alreadyThere,
  ended,
  observed,
  pauseAfter,
  subscriptionKey,
  turnedDown,
} from './own-subscription.js';

const minute = 60_000;

describe('subscriptionKey', () => {
  it('is the same whatever the order of keys, and with the empty ones that the platform adds', () => {
    const raid = { type: 'channel.raid', version: '1' };
    expect(subscriptionKey({ ...raid, condition: { a: '1', b: '2' } })).toBe(
      subscriptionKey({ ...raid, condition: { b: '2', from: '', a: '1' } }),
    );
    expect(subscriptionKey({ ...raid, condition: { a: '1' } })).not.toBe(
      subscriptionKey({ ...raid, condition: { b: '1' } }),
    );
  });
});

describe('pauseAfter', () => {
  it('grows from a minute to an hour', () => {
    expect([0, 1, 2, 3, 7, 60].map(pauseAfter)).toEqual([0, minute, 2 * minute, 4 * minute, 60 * minute, 60 * minute]); // prettier-ignore
  });
});

describe('ended', () => {
  it('makes anew at once what had worked for ten minutes, however often it failed before', () => {
    const own = newOwn('1', { status: 'enabled', statusSince: 0, attempts: 5 });
    const after = ended(own, { status: 'user_removed', reason: '' }, 10 * minute);
    expect(after).toMatchObject({ status: 'user_removed', attempts: 1, retryAt: 10 * minute });
  });

  it('makes anew at once what fails for the first time, then after growing pauses', () => {
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

describe('observed', () => {
  it('changes nothing when nothing has changed', () => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'enabled', cost: 1 });
    expect(observed(own, newListed(own, { id: 'a', status: 'enabled', cost: 1 }), 5)).toBe(own);
    expect(observed(own, newListed(own, { id: 'a', status: 'enabled', cost: 0 }), 5)).toEqual({
      ...own,
      cost: 0,
    });
  });
});

describe('turnedDown', () => {
  it('tries again after a minute, then later and later', () => {
    const once = turnedDown(newOwn('1', {}), 'refused', { reason: 'no', now: 0 });
    const twice = turnedDown(once, 'refused', { reason: 'no', now: once.retryAt! });
    expect([once.retryAt, twice.retryAt]).toEqual([minute, 3 * minute]);
  });
});

describe('alreadyThere', () => {
  it('waits to find it in the list, and is refused when it never appears there', () => {
    const once = alreadyThere(newOwn('1', {}), 0);
    expect(once).toMatchObject({ status: 'waiting', retryAt: minute });
    expect(alreadyThere(once, minute)).toMatchObject({ status: 'refused', retryAt: 3 * minute });
  });
});

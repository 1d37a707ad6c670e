import { callback, newListed, newOwn, webhook } from '../../test/subscription-factory.js';
import { matchListing } from './match-listing.js';

const now = 1_000_000_000;

describe('matchListing', () => {
  it.each([
    ['keeps a status that is newer than the listing', now, 'user_removed'],
    ['replaces a status that is in the future, because the clock was set back', now + 60_001, 'enabled'],
  ])('%s', (_, statusSince, status) => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'user_removed', statusSince });
    const listing = { startedAt: now - 1, subscriptions: [newListed(own, { id: 'a' })] };

    const match = matchListing([own], listing, { kindOf: () => 'wanted', now });
    expect(match.own).toMatchObject([{ status }]);
  });

  it('recognizes a subscription by its id when the listing names the subscription twice', () => {
    const own = newOwn('815', { subscriptionId: 'c', status: 'enabled', transport: webhook(callback) });
    const listing = {
      startedAt: now,
      subscriptions: [newListed(own, { id: 'c' }), newListed(own, { id: 'c' })],
    };

    const match = matchListing([own], listing, { kindOf: () => 'wanted', now });
    expect(match.own).toMatchObject([{ subscriptionId: 'c', status: 'enabled' }]);
    expect(match.strays).toEqual([]);
  });
});

import { subscriptionKey } from '@stream-events/platforms';
import { newOwn } from '../../test/subscription-factory.js';
import type { OwnSubscription } from '../subscriptions/own-subscription.js';
import { planSubscriptions, type Action, type Plan } from './subscription-plan.js';

const now = 1_000_000_000;
const hour = 3_600_000;

/** Plans for one subscription, when the platform's limit is used up. */
function plan(own: OwnSubscription, expectedCost: number, at = now): Plan {
  const wanted = { ...own, key: subscriptionKey(own), expectedCost, consent: { kind: 'given' } as const };
  return planSubscriptions({
    wanted: [wanted],
    own: [own],
    listing: null,
    maxCost: 1,
    foreignCost: 1,
    kindOf: () => 'wanted',
    sharesLimit: () => true,
    canCreate: () => true,
    mayMove: true,
    now: at,
    newId: () => 'new',
  });
}

const kinds = ({ actions }: Plan): string[] => actions.map(({ kind }) => kind);

describe('planSubscriptions for a subscription whose cost changes', () => {
  it('creates a deleted subscription when it has become free, because the streamer has connected', () => {
    const own = newOwn('1', { status: 'limit_reached', cost: 1 });
    expect(kinds(plan(own, 1))).toEqual([]);

    const planned = plan(own, 0);
    expect(kinds(planned)).toEqual(['create']);
    expect(planned.update).toMatchObject([{ after: { status: 'waiting', reason: null } }]);
  });

  it('tries once an hour when the platform reports a cost for a subscription that should be free', () => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'enabled', cost: 1 });
    const [deletion] = plan(own, 0).actions as [Action & { kind: 'delete' }]; // Safe cast: the subscription does not fit.
    expect(deletion).toMatchObject({ kind: 'delete', after: { status: 'limit_reached' } });

    const deleted = deletion.after!;
    expect(kinds(plan(deleted, 0, now + hour - 1))).toEqual([]);
    expect(kinds(plan(deleted, 0, now + hour))).toEqual(['create']);
  });

  it('sets no pause before the next attempt when it deletes a subscription that is expected to have a cost', () => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'enabled', cost: 1 });
    expect(plan(own, 1).actions).toMatchObject([{ kind: 'delete', after: { retryAt: null } }]);
  });
});

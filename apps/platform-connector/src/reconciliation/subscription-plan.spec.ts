import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { callback, newListed, newOwn, publicUrl, secret, webhook } from '../../test/subscription-factory.js';
import {
  callbackOf,
  fingerprintOf,
  subscriptionKey,
  type PlatformSubscription,
} from '@stream-events/platforms';
import { isLive, observed, type OwnSubscription } from '../subscriptions/own-subscription.js';
import {
  confirmDeletions,
  planSubscriptions,
  type Action,
  type Plan,
  type PlanInput,
} from './subscription-plan.js';
import { OwnTransports } from '../subscriptions/own-transports.js';
import type { WantedSubscription } from './wanted-subscriptions.js';

const now = 1_000_000_000;
const transports = new OwnTransports({
  method: 'webhook',
  publicUrl,
  fingerprints: [fingerprintOf(secret), '22222222'],
});

const other = webhook(callbackOf(publicUrl, '22222222'));

function want(streamerId: string, type = 'stream.online', expectedCost = 1): WantedSubscription {
  const subscription = { type, version: '1', condition: { broadcaster_user_id: streamerId } };
  return { ...subscription, key: subscriptionKey(subscription), expectedCost, consent: { kind: 'given' } };
}

let ids = 0;

function plan(input: Partial<PlanInput>): Plan {
  const defaults = { wanted: [], own: [], listing: null, maxCost: 100, foreignCost: 0 };
  return planSubscriptions({
    ...defaults,
    kindOf: (transport) => transports.kindOf(transport),
    sharesLimit: (transport) => transports.sharesLimit(transport),
    canCreate: () => true,
    mayMove: true,
    now,
    newId: () => `new-${(ids += 1)}`,
    ...input,
  });
}

function listing(...subscriptions: PlatformSubscription[]): PlanInput['listing'] {
  return { startedAt: now, subscriptions };
}

const describeAction = (action: Action): string =>
  action.kind === 'delete'
    ? `delete ${action.subscriptionId}`
    : `${action.kind} ${action.own.type} ${action.own.condition.broadcaster_user_id}`;
const describeAll = ({ actions }: Plan): string[] => actions.map(describeAction);

describe('planSubscriptions', () => {
  it('creates nothing until the platform has reported its limit, but saves the rows as waiting', () => {
    const { add, actions } = plan({ wanted: [want('1')], maxCost: null });
    expect(add).toMatchObject([{ status: 'waiting' }]);
    expect(actions).toEqual([]);
  });

  it('adopts wanted subscriptions that point here, even unknown ones', () => {
    const listed = newListed(want('1'), { id: 'a' });
    const { add, actions } = plan({ wanted: [want('1')], listing: listing(listed) });
    expect(add).toMatchObject([{ subscriptionId: 'a', status: 'enabled', cost: 1 }]);
    expect(actions).toEqual([]);
  });

  it('deletes strays that point here, and keeps other programs’ subscriptions', () => {
    const stray = newListed(want('9'), { id: 'stray' });
    const foreign = newListed(want('1'), {
      id: 'foreign',
      transport: webhook('https://other.example/'),
      cost: 3,
    });
    const planned = plan({ wanted: [want('1')], listing: listing(stray, foreign) });
    expect(describeAll(planned)).toEqual(['delete stray', 'create stream.online 1']);
    expect(planned.foreignCost).toBe(3);
  });

  it('deletes a live stray or crowded-out subscription only after a second listing, and an ended stray at once', () => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'enabled' });
    const listed = [
      newListed(own, { id: 'a' }),
      newListed(want('9'), { id: 'live' }),
      newListed(want('8'), { id: 'ended', status: 'user_removed' }),
    ];
    const { actions } = plan({ wanted: [want('1')], own: [own], listing: listing(...listed), maxCost: 0 });
    const idsOf = (suspects: ReadonlySet<string> | null) =>
      confirmDeletions(actions, suspects).confirmed.map(describeAction);

    expect(confirmDeletions(actions, null).suspected).toEqual(['live', 'a']);
    expect(idsOf(null)).toEqual(['delete ended']);
    expect(idsOf(new Set(['a', 'another']))).toEqual(['delete ended', 'delete a']);
    expect(idsOf(new Set(['live', 'a']))).toEqual(['delete live', 'delete ended', 'delete a']);
  });

  it('keeps the working one of two equal subscriptions', () => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'enabled' });
    const dead = newListed(own, { id: 'a', status: 'user_removed' });
    const live = newListed(own, { id: 'b' });
    const planned = plan({ wanted: [want('1')], own: [own], listing: listing(dead, live) });
    expect(planned.update).toMatchObject([{ after: { subscriptionId: 'b', status: 'enabled' } }]);
    expect(describeAll(planned)).toEqual(['delete a']);
  });

  it('keeps the first of two subscriptions until the wanted one is enabled, and never creates a third one', () => {
    const own = newOwn('1', { subscriptionId: 'old', transport: other, status: 'enabled', cost: 1 });
    const old = newListed(own, { id: 'old', transport: other });
    const planWith = (...listed: PlatformSubscription[]): Plan =>
      plan({ wanted: [want('1')], own: [own], listing: listing(old, ...listed) });
    const twin = newListed(own, { id: 'twin' });
    const pending = { ...twin, status: 'webhook_callback_verification_pending' };

    expect(planWith(pending).actions).toEqual([]);
    const { actions, update } = planWith(twin);
    expect(actions).toMatchObject([
      { kind: 'delete', subscriptionId: 'old', after: { subscriptionId: 'twin' }, isDoubtful: true },
    ]);
    expect(update).toEqual([]);
    const deadFirst = plan({
      wanted: [want('1')],
      own: [own],
      listing: listing({ ...old, status: 'user_removed' }, twin),
    });
    expect(deadFirst.update).toMatchObject([{ after: { subscriptionId: 'twin', status: 'enabled' } }]);
    expect(describeAll(deadFirst)).toEqual(['delete old']);
  });

  it('deletes a failed second subscription, and retries after a pause', () => {
    const own = newOwn('1', { subscriptionId: 'old', transport: other, status: 'enabled' });
    const listed = [
      newListed(own, { id: 'old', transport: other }),
      newListed(own, { id: 'failed', status: 'webhook_callback_verification_failed' }),
    ];
    const planned = plan({ wanted: [want('1')], own: [own], listing: listing(...listed) });

    expect(describeAll(planned)).toEqual(['delete failed']);
    expect(planned.update).toMatchObject([
      { after: { subscriptionId: 'old', status: 'enabled', retryAt: now + 60_000 } },
    ]);
  });

  it('moves nothing without a listing, or while another instance decides the transport', () => {
    const own = newOwn('1', { subscriptionId: 'old', transport: other, status: 'enabled' });
    const listed = listing(newListed(own, { id: 'old', transport: other }));
    const input = { wanted: [want('1')], own: [own] };

    expect(plan({ ...input, listing: null }).actions).toEqual([]);
    expect(plan({ ...input, listing: listed, mayMove: false }).actions).toEqual([]);
    expect(describeAll(plan({ ...input, listing: listed }))).toEqual(['create_second stream.online 1']);
  });

  it('replaces subscriptions that were created for another callback', () => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'enabled', cost: 1 });
    const listed = newListed(own, { id: 'a', transport: webhook('https://before.example/') });
    const planned = plan({ wanted: [want('1')], own: [own], listing: listing(listed) });
    expect(describeAll(planned)).toEqual(['delete a', 'create stream.online 1']);
  });

  it('deletes ended subscriptions, and recreates them at their retry time', () => {
    const dead = { subscriptionId: 'a', status: 'authorization_revoked' };
    const own = newOwn('1', { ...dead, retryAt: now + 1, attempts: 2 });
    const first = plan({ wanted: [want('1')], own: [own] });
    expect(first.actions).toMatchObject([
      { kind: 'delete', after: { subscriptionId: null, status: dead.status } },
    ]);

    const released = { ...own, subscriptionId: null };
    expect(plan({ wanted: [want('1')], own: [released] }).actions).toEqual([]);
    expect(plan({ wanted: [want('1')], own: [{ ...released, retryAt: now }] }).actions).toHaveLength(1);
  });

  it('recreates subscriptions that have vanished from the platform', () => {
    const own = newOwn('1', { subscriptionId: 'a', status: 'enabled', cost: 1 });
    const planned = plan({ wanted: [want('1')], own: [own], listing: listing() });
    expect(planned.update).toMatchObject([{ after: { subscriptionId: null, status: 'waiting' } }]);
    expect(describeAll(planned)).toEqual(['create stream.online 1']);
  });

  it('prefers a revocation that arrived during a listing over the listing', () => {
    const own = newOwn('1', {
      subscriptionId: 'a',
      status: 'user_removed',
      statusSince: now,
      retryAt: now + 1,
    });
    const planned = plan({ wanted: [want('1')], own: [own], listing: listing(newListed(own, { id: 'a' })) });
    expect(planned.update).toEqual([]);
    expect(describeAll(planned)).toEqual(['delete a']);
  });

  it('moves subscriptions to plain sockets under the limit of their user, however much the application’s limit is used', () => {
    const sockets = new OwnTransports({ method: 'websocket', publicUrl, fingerprints: [fingerprintOf(secret)] }); // prettier-ignore
    const wanted = ['1', '2', '3'].map((id) => want(id));
    const own = wanted.map(({ condition }, index) =>
      newOwn(condition.broadcaster_user_id!, {
        subscriptionId: `${index}`,
        status: 'enabled',
        cost: 1,
        transport: webhook(callback),
      }),
    );
    const planned = plan({
      wanted,
      own,
      listing: listing(...own.map((row) => newListed(row, { id: row.subscriptionId! }))),
      maxCost: 2,
      kindOf: (transport) => sockets.kindOf(transport),
      sharesLimit: (transport) => sockets.sharesLimit(transport),
    });

    expect(describeAll(planned)).toEqual([
      'delete 2',
      'create_second stream.online 1',
      'create_second stream.online 2',
    ]);
  });

  it('gives the room to subscriptions of higher priority, and marks the others as over the limit', () => {
    const second = newOwn('2', { subscriptionId: 'b', status: 'enabled', cost: 1 });
    const wanted = [want('1'), want('2'), want('3', 'channel.cheer', 0)];
    const planned = plan({ wanted, own: [second], maxCost: 3, foreignCost: 2 });
    // Deletions must make room first, except for free subscriptions.
    expect(describeAll(planned)).toEqual(['delete b', 'create channel.cheer 3']);
    expect(planned.actions[0]).toMatchObject({ after: { status: 'limit_reached', subscriptionId: null } });

    const crowded = { ...second, subscriptionId: null, status: 'limit_reached' };
    const then = plan({ wanted, own: [crowded], maxCost: 3, foreignCost: 2 });
    expect(describeAll(then)).toContain('create stream.online 1');
    expect(describeAll(then)).not.toContain('create stream.online 2');
    expect(plan({ wanted, own: [crowded] }).update).toMatchObject([{ after: { status: 'waiting' } }]);
  });

  it('gives no room to a refused subscription before its retry', () => {
    const own = newOwn('1', { status: 'refused', retryAt: now + 1 });
    const planned = plan({ wanted: [want('1'), want('2')], own: [own], maxCost: 1 });
    expect(describeAll(planned)).toEqual(['create stream.online 2']);
    const due = plan({ wanted: [want('1'), want('2')], own: [{ ...own, retryAt: now }], maxCost: 1 });
    expect(describeAll(due)).toEqual(['create stream.online 2']);
    expect(due.update).toEqual([]);
  });

  it('tries only a few creations while no verification reaches the callback', () => {
    const wanted = Array.from({ length: 100 }, (_, index) => want(`${index}`));
    const failed = wanted.map((each, index) =>
      newOwn(`${index}`, { ...each, status: 'webhook_callback_verification_failed', retryAt: now }),
    );
    expect(plan({ wanted, own: failed }).actions).toHaveLength(20);
    const [first, ...rest] = failed;
    const working = { ...first!, subscriptionId: 'a', status: 'enabled', cost: 1 };
    expect(plan({ wanted, own: [working, ...rest] }).actions).toHaveLength(99);
  });

  it('takes time in proportion to the number of subscriptions', () => {
    const fastest = (count: number): number => Math.min(...[1, 2, 3].map(() => planUnchanged(count)));

    // Plan ten times as many subscriptions. In quadratic time, this would take a hundred times as long.
    const small = fastest(2_000);
    expect(fastest(20_000)).toBeLessThan(40 * small);
  });

  /**
   * Plans this number of subscriptions, all of them already as wanted. Returns the processor time, which other processes do not distort.
   */
  function planUnchanged(count: number): number {
    const wanted = Array.from({ length: count / 2 }, (_, index) => [
      want(`${index}`),
      want(`${index}`, 'stream.offline'),
    ]).flat();
    const own = wanted.map((each, index) =>
      newOwn('', {
        ...each,
        id: `${index}`,
        subscriptionId: `s${index}`,
        transport: webhook(callback),
        status: 'enabled',
        cost: 1,
      }),
    );
    const subscriptions = own.map((each) => newListed(each, { id: each.subscriptionId! }));
    const before = process.cpuUsage();
    const planned = plan({ wanted, own, listing: listing(...subscriptions), maxCost: count });
    const { user } = process.cpuUsage(before);
    expect(planned).toMatchObject({ add: [], update: [], remove: [], actions: [] });
    return user;
  }
});

/** A minimal platform in memory. */
class ModelPlatform {
  readonly subscriptions = new Map<string, PlatformSubscription>();
  private nextId = 0;

  constructor(readonly maxCost: number) {}

  get cost(): number {
    return [...this.subscriptions.values()].reduce(
      (sum, { status, cost }) => sum + (isLive(status) ? cost : 0),
      0,
    );
  }

  add(subscription: PlatformSubscription): PlatformSubscription {
    this.nextId += 1;
    const added = { ...subscription, id: `p${this.nextId}` };
    this.subscriptions.set(added.id, added);
    return added;
  }
}

/** Saves the plan, then executes the first `steps` actions in the given order. */
function carryOut(
  own: readonly OwnSubscription[],
  { add, update, remove, actions }: Plan,
  platform: ModelPlatform,
  steps = actions.length,
): OwnSubscription[] {
  const rows = new Map([...own, ...add, ...update.map(({ after }) => after)].map((row) => [row.id, row]));
  for (const { id } of remove) rows.delete(id);
  for (const action of actions.slice(0, steps)) {
    if (action.kind === 'create') {
      const made = platform.add(newListed(action.own, { cost: action.cost }));
      rows.set(action.own.id, observed(action.own, made, now));
    } else if (action.kind === 'delete') {
      platform.subscriptions.delete(action.subscriptionId);
      if (action.own && action.after) rows.set(action.own.id, action.after);
      else if (action.own) rows.delete(action.own.id);
    }
    expect(platform.cost).toBeLessThanOrEqual(platform.maxCost);
  }
  return [...rows.values()];
}

const types = [
  { type: 'stream.online', cost: 1 },
  { type: 'stream.offline', cost: 1 },
  { type: 'channel.cheer', cost: 0 },
];
const streamers = ['1', '2', '3', '4', '5'];
const statuses = ['enabled', 'webhook_callback_verification_pending', 'user_removed', 'notification_failures_exceeded']; // prettier-ignore

const worlds = fc.record({
  monitored: fc.shuffledSubarray(streamers),
  active: fc.subarray(types),
  listed: fc.array(
    fc.record({
      streamer: fc.constantFrom(...streamers),
      type: fc.constantFrom(...types),
      status: fc.constantFrom(...statuses),
      isForeign: fc.boolean(),
      isKnown: fc.boolean(),
    }),
    { maxLength: 12 },
  ),
  freeCost: fc.nat({ max: 8 }),
  order: fc.infiniteStream(fc.nat()),
  crashAfter: fc.array(fc.nat({ max: 4 }), { maxLength: 4 }),
});

describe('planSubscriptions, round after round', () => {
  it('converges to the highest priorities under the limit, never above it, from any state, in any order, with crashes', () => {
    fc.assert(
      fc.property(worlds, ({ monitored, active, listed, freeCost, order, crashAfter }) => {
        const platform = new ModelPlatform(freeCost + listed.reduce((sum, { type }) => sum + type.cost, 0));
        const own: OwnSubscription[] = [];
        for (const { streamer, type, status, isForeign, isKnown } of listed) {
          const subscription = want(streamer, type.type);
          const added = platform.add(
            newListed(subscription, {
              status,
              cost: type.cost,
              ...(isForeign && { transport: webhook('elsewhere') }),
            }),
          );
          const isFirst = !own.some(({ key }) => key === subscription.key);
          if (isKnown && isFirst && !isForeign)
            own.push(
              newOwn(streamer, { type: type.type, subscriptionId: added.id, status, cost: type.cost }),
            );
        }
        const isOurs = ({ transport }: PlatformSubscription) =>
          isDeepStrictEqual(transport, webhook(callback));
        const foreign = [...platform.subscriptions.values()].filter((each) => !isOurs(each));
        const wanted = monitored.flatMap((id) => active.map(({ type, cost }) => want(id, type, cost)));

        let rows = own;
        const runRound = (steps?: number): Plan => {
          const current = [...platform.subscriptions.values()];
          const planned = plan({
            wanted,
            own: rows.map((row) => ({ ...row, retryAt: null })), // pretend that all pauses are over
            listing: { startedAt: now + 1, subscriptions: current },
            maxCost: platform.maxCost,
          });
          const ranks = new Map(planned.actions.map((action) => [action, order.next().value as number]));
          const actions = planned.actions.toSorted((a, b) => ranks.get(a)! - ranks.get(b)!);
          rows = carryOut(rows, { ...planned, actions }, platform, steps);
          return planned;
        };
        for (const steps of crashAfter) runRound(steps);
        runRound();
        runRound();
        runRound();

        // The expected result: go down the list by priority, and take each subscription that still has room.
        let room = platform.maxCost - foreign.reduce((sum, { status, cost }) => sum + (isLive(status) ? cost : 0), 0); // prettier-ignore
        const expected = wanted.filter(({ expectedCost }) => {
          if (expectedCost > room) return false;
          room -= expectedCost;
          return true;
        });
        const ours = [...platform.subscriptions.values()].filter(isOurs);
        expect(ours.map(subscriptionKey).sort()).toEqual(expected.map(({ key }) => key).sort());
        expect(ours.every(({ status }) => isLive(status))).toBe(true);
        expect([...platform.subscriptions.values()].filter((each) => !isOurs(each))).toEqual(foreign);
        expect(rows.map(({ key }) => key).sort()).toEqual(wanted.map(({ key }) => key).sort());
        expect(rows.filter(({ subscriptionId }) => subscriptionId === null).every(({ status }) => status === 'limit_reached')).toBe(true); // prettier-ignore
        // The round converges: the next plan is empty.
        expect(runRound()).toMatchObject({ add: [], remove: [], actions: [] });
      }),
      { numRuns: 500 },
    );
  });
});

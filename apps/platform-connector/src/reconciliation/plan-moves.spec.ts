import {
  callbackOf,
  subscriptionKey,
  type Condition,
  type PlatformSubscription,
  type SubscriptionTransport,
} from '@stream-events/platforms';
import fc from 'fast-check';
import { newListed, newOwn, publicUrl, webhook } from '../../test/subscription-factory.js';
import { isLive, observed, type OwnSubscription } from '../subscriptions/own-subscription.js';
import { OwnTransports } from '../subscriptions/own-transports.js';
import { planMoves, type MovesInput } from './plan-moves.js';
import { confirmDeletions, planSubscriptions } from './subscription-plan.js';

const now = 1_000_000_000;
const [first, other, removed] = ['11111111', '22222222', '33333333'].map((each) =>
  webhook(callbackOf(publicUrl, each)),
);
const declared = { method: 'webhook', publicUrl, fingerprints: ['11111111', '22222222'] } as const;
const transports = new OwnTransports(declared);
const kindOf = (transport: SubscriptionTransport | null) => transports.kindOf(transport);

const row = (streamer: string, overrides: Partial<OwnSubscription> = {}): OwnSubscription =>
  newOwn(streamer, {
    subscriptionId: `old-${streamer}`,
    status: 'enabled',
    cost: 1,
    transport: other!,
    ...overrides,
  });
const plan = (input: Partial<MovesInput>) =>
  planMoves({
    rows: [],
    kindOf,
    canCreate: () => true,
    twins: new Map(),
    failedTwins: new Set(),
    room: 100,
    now,
    ...input,
  });

describe(OwnTransports.name, () => {
  it.each([
    [first, 'wanted'],
    [other, 'other'],
    [removed, 'removed'],
    [webhook(`${publicUrl}/api/v1/platform-events/webhook`), undefined],
    [webhook('https://elsewhere.example/'), undefined],
    [{ method: 'conduit', conduitId: 'unknown' } as const, undefined],
    [null, undefined],
  ])('tells how %j relates to webhooks with the first secret', (transport, kind) => {
    expect(kindOf(transport ?? null)).toBe(kind);
  });

  it('tells which webhooks still work while a conduit is wanted', () => {
    const withConduit = new OwnTransports({ ...declared, method: 'conduit' });

    expect([first, other, removed].map((each) => withConduit.kindOf(each!))).toEqual([
      'other',
      'other',
      'removed',
    ]);
  });
});

describe(planMoves.name, () => {
  it('leaves subscriptions of the first secret alone', () => {
    expect(plan({ rows: [row('1', { transport: first! })] })).toEqual({
      update: [],
      actions: [],
      replaced: 0,
      moved: 1,
      total: 1,
    });
  });

  it('creates a second subscription, and deletes the first one when the second one is enabled', () => {
    const own = row('1', { reason: 'no room before', attempts: 2 });
    const seen = (status: string) => {
      const twin = newListed(own, { id: 'second', transport: first!, status });
      return plan({ rows: [own], twins: new Map([[own.key, twin]]) });
    };

    expect(plan({ rows: [own] })).toMatchObject({
      actions: [{ kind: 'create_second', own, cost: 1 }],
      moved: 0,
      total: 1,
    });
    expect(seen('webhook_callback_verification_pending').actions).toEqual([]);
    expect(seen('enabled').actions).toMatchObject([
      {
        kind: 'delete',
        subscriptionId: 'old-1',
        after: { subscriptionId: 'second', transport: first, reason: null, attempts: 0 },
        isDoubtful: true,
      },
    ]);
  });

  it('tries again later when the platform does not enable the second subscription', () => {
    const own = row('1');
    const { update, actions } = plan({ rows: [own], failedTwins: new Set([own.key]) });

    expect(actions).toEqual([]);
    expect(update).toMatchObject([{ attempts: 1, retryAt: now + 60_000 }]);
    expect(update[0]?.reason).toContain('PLATFORM_WEBHOOK_SECRET');
    expect(plan({ rows: update }).actions).toEqual([]);
    expect(plan({ rows: update, now: now + 60_000 }).actions).toHaveLength(1);
  });

  it('forgets why a subscription could not move when the wanted transport changes back', () => {
    const own = row('1', { transport: first!, reason: 'not enabled', attempts: 1, retryAt: now + 1 });

    expect(plan({ rows: [own] }).update).toEqual([{ ...own, reason: null, attempts: 0, retryAt: null }]);
  });

  it('creates as many second subscriptions as there is room for, by priority, and says why the others wait', () => {
    const rows = ['1', '2', '3'].map((id) => row(id, { cost: id === '3' ? 0 : 1 }));
    const { actions, update } = plan({ rows, room: 1 });

    expect(actions.map((action) => action.own?.id)).toEqual([rows[0]!.id, rows[2]!.id]);
    expect(update).toMatchObject([{ key: rows[1]!.key }]);
    expect(update[0]?.reason).toContain('no room');
  });

  it('waits for the socket of the user whom the subscription is about, while others move', () => {
    const rows = ['1', '2'].map((id) => row(id));
    const canCreate = ({ broadcaster_user_id: user }: Condition) => user === '2';

    expect(plan({ rows, canCreate }).actions).toEqual([{ kind: 'create_second', own: rows[1], cost: 1 }]);
  });

  it('tries a few subscriptions until the first secret has proven to work', () => {
    const rows = Array.from({ length: 30 }, (_, index) => row(String(index)));
    const proof = row('proof', { transport: first! });
    const failed = rows.map((each, index) => (index < 15 ? { ...each, retryAt: now } : each));

    expect(plan({ rows }).actions).toHaveLength(20);
    expect(plan({ rows: failed }).actions).toHaveLength(20);
    expect(plan({ rows: [...rows, proof] }).actions).toHaveLength(30);
  });

  it('replaces subscriptions whose secret was removed, with a gap', () => {
    const { actions, replaced } = plan({ rows: [row('1', { transport: removed! })] });

    expect(actions).toMatchObject([
      { kind: 'delete', subscriptionId: 'old-1', after: { subscriptionId: null, status: 'enabled' } },
    ]);
    expect(replaced).toBe(1);
  });
});

const streamers = ['1', '2', '3', '4'];
const worlds = fc.record({
  secrets: fc.array(fc.constantFrom('first', 'other', 'none'), { minLength: 4, maxLength: 4 }),
  room: fc.integer({ min: 1, max: 4 }),
  // How many actions each round runs, in any order. The rest is lost, because the instance is killed or the platform does not respond.
  crashes: fc.array(fc.nat({ max: 3 }), { maxLength: 12 }),
  failures: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
  // The rounds before which the wanted transport changes, or changes back.
  changes: fc.uniqueArray(fc.nat({ max: 20 }), { maxLength: 3 }),
  order: fc.infiniteStream(fc.nat()),
});

describe('moves, round after round', () => {
  it('leave every streamer with one wanted subscription, and none without one meanwhile, with crashes and changes at any point', () => {
    fc.assert(
      fc.property(worlds, ({ secrets, room, crashes, failures, changes, order }) => {
        const platform = new Map<string, PlatformSubscription>();
        let ids = 0;
        const add = (listed: PlatformSubscription): void => void platform.set(listed.id, listed);
        const wanted = streamers.map((id) => {
          const { key, type, version, condition } = row(id);
          return { key, type, version, condition, expectedCost: 1, consent: { kind: 'given' as const } };
        });
        let rows: OwnSubscription[] = [];
        for (const [index, secret] of secrets.entries()) {
          if (secret === 'none') continue;
          const transport = { first, other }[secret]!;
          const own = row(streamers[index]!, { transport });
          add(newListed(own, { id: own.subscriptionId!, transport }));
          rows.push(own);
        }
        const started = new Set(rows.map(({ key }) => key));
        let suspects: ReadonlySet<string> = new Set();
        let time = now;
        let round = 0;
        let isChanged = false;
        const current = () =>
          isChanged
            ? new OwnTransports({ ...declared, fingerprints: [...declared.fingerprints].reverse() })
            : transports;
        const runRound = (steps: number): void => {
          time += 11_000;
          if (changes.includes(round)) isChanged = !isChanged;
          round += 1;
          const planned = planSubscriptions({
            wanted,
            own: rows.map((each) => ({ ...each, retryAt: null })),
            listing: { startedAt: time, subscriptions: [...platform.values()] },
            maxCost: 4 + room,
            foreignCost: 0,
            kindOf: (transport) => current().kindOf(transport),
            sharesLimit: (transport) => current().sharesLimit(transport),
            canCreate: () => true,
            mayMove: true,
            now: time,
            newId: () => `new-${(ids += 1)}`,
          });
          const { add: added, update } = planned;
          rows = [...rows.filter(({ id }) => !update.some(({ before }) => before.id === id)), ...added, ...update.map(({ after }) => after)]; // prettier-ignore
          const { confirmed, suspected } = confirmDeletions(planned.actions, suspects);
          suspects = new Set(suspected);
          const shuffled = confirmed.toSorted(() => ((order.next().value as number) % 2 === 0 ? 1 : -1));
          for (const action of shuffled.slice(0, steps)) {
            if (action.kind === 'delete') {
              platform.delete(action.subscriptionId);
              if (action.own) rows = rows.filter(({ id }) => id !== action.own?.id);
              if (action.after) rows.push(action.after);
            } else {
              ids += 1;
              const status = failures.includes(ids) ? 'webhook_callback_verification_failed' : 'enabled';
              const transport = isChanged ? other! : first!;
              const made = newListed(action.own, { id: `made-${ids}`, transport, status });
              add(made);
              if (action.kind === 'create') {
                rows = rows.filter(({ id }) => id !== action.own.id);
                rows.push(observed(action.own, made, time));
              }
            }
            const live = [...platform.values()].filter(({ status }) => isLive(status));
            const covered = new Set(live.map(subscriptionKey));
            expect([...started].filter((key) => !covered.has(key))).toEqual([]);
            expect(live.length).toBeLessThanOrEqual(4 + room);
            // The platform rejects equal subscriptions with the same transport.
            expect(new Set(live.map((each) => subscriptionKey(each) + JSON.stringify(each.transport))).size).toBe(live.length); // prettier-ignore
          }
        };
        for (const steps of crashes) runRound(steps);
        while (round < 60) runRound(Infinity);

        expect([...platform.values()].map(subscriptionKey).sort()).toEqual(
          wanted.map(({ key }) => key).sort(),
        );
        expect(
          [...platform.values()].every(({ transport }) => current().kindOf(transport) === 'wanted'),
        ).toBe(true);
        expect(rows.map(({ reason }) => reason)).toEqual(streamers.map(() => null));
      }),
      { numRuns: 200 },
    );
  });
});

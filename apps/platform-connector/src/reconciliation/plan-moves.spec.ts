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
import { newMove, type SubscriptionMove } from '../subscriptions/subscription-moves.repository.js';
import { OwnTransports } from '../subscriptions/own-transports.js';
import { planMoves, type MovesInput } from './plan-moves.js';
import { planSubscriptions } from './subscription-plan.js';

const now = 1_000_000_000;
const [first, other, removed] = ['11111111', '22222222', '33333333'].map((each) =>
  webhook(callbackOf(publicUrl, each)),
);
const plainCallback = `${publicUrl}/api/v1/platform-events/webhook`;
const plain = webhook(plainCallback);
const declared = {
  method: 'webhook',
  publicUrl,
  fingerprints: ['11111111', '22222222'],
  plainFingerprint: '',
} as const;
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
const twinOf = ({ type, version, condition }: OwnSubscription, status = 'enabled'): PlatformSubscription =>
  newListed({ type, version, condition }, { id: 'second', transport: first!, status });
const ready = (key: string, changes: Partial<SubscriptionMove> = {}): SubscriptionMove => ({
  ...newMove(key),
  isReady: true,
  ...changes,
});
const plan = (input: Partial<MovesInput>) =>
  planMoves({
    rows: [],
    kindOf,
    canCreate: () => true,
    twins: new Map(),
    failedTwins: new Set(),
    moves: [],
    room: 100,
    now,
    ...input,
  });

describe(OwnTransports.name, () => {
  it.each([
    [first, 'wanted'],
    [other, 'other'],
    [removed, 'removed'],
    [plain, 'other'],
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

  it('knows the secret of the plain callback, when it was recorded', () => {
    const kinds = ['11111111', '22222222', '33333333'].map((fingerprint) =>
      new OwnTransports({ ...declared, plainFingerprint: fingerprint }).secretKindOf(plainCallback),
    );

    expect(kinds).toEqual(['first', 'other', 'removed']);
  });
});

describe(planMoves.name, () => {
  it('leaves subscriptions of the first secret alone', () => {
    expect(plan({ rows: [row('1', { transport: first! })] })).toEqual({
      save: [],
      ending: [],
      end: [],
      actions: [],
      replaced: 0,
      moved: 1,
      total: 1,
    });
  });

  it('announces a move before it creates a second subscription', () => {
    const own = row('1');

    expect(plan({ rows: [own] })).toMatchObject({ save: [{ key: own.key, isReady: false }], actions: [] });
    expect(plan({ rows: [own], moves: [newMove(own.key)] })).toMatchObject({ save: [], actions: [] });
    expect(plan({ rows: [own], moves: [ready(own.key)] }).actions).toEqual([
      { kind: 'create_second', own, cost: 1 },
    ]);
  });

  it('announces the end when the second subscription has been enabled for 10 s, then deletes the first one', () => {
    const own = row('1');
    const seen = (status: string, move: Partial<SubscriptionMove>) =>
      plan({
        rows: [own],
        twins: new Map([[own.key, twinOf(own, status)]]),
        moves: [ready(own.key, move)],
      });

    expect(seen('webhook_callback_verification_pending', {})).toMatchObject({ save: [], actions: [] });
    expect(seen('enabled', {})).toMatchObject({ save: [{ enabledAt: now }], actions: [] });
    expect(seen('enabled', { enabledAt: now - 9_999 })).toMatchObject({ save: [], actions: [] });
    const { ending, actions } = seen('enabled', { enabledAt: now - 10_000 });
    expect(actions).toEqual([]);
    expect(ending).toMatchObject([{ move: { key: own.key, endsAt: now + 5_000 }, keptSince: 0 }]);
    const { move } = ending[0]!;
    expect(seen('enabled', { ...move, endsAt: now - 1_999 }).actions).toEqual([]);
    expect(seen('enabled', { ...move, endsAt: now - 2_000 }).actions).toMatchObject([
      { kind: 'delete', subscriptionId: 'old-1', after: { subscriptionId: 'second', transport: first } },
    ]);
  });

  it('announces the overlap again when the second subscription is gone after the end was announced', () => {
    const own = row('1');
    const moves = [ready(own.key, { enabledAt: now - 20_000, endsAt: now - 5_000 })];
    const again = { isReady: false, enabledAt: null, endsAt: null };

    expect(plan({ rows: [own], moves })).toMatchObject({ save: [again], actions: [] });
    expect(plan({ rows: [own], moves, failedTwins: new Set([own.key]) })).toMatchObject({
      save: [{ ...again, attempts: 1 }],
      actions: [],
    });
  });

  it('ends the overlap when one subscription is left, or none', () => {
    const own = row('1', { subscriptionId: 'second', transport: first! });

    expect(plan({ rows: [own], moves: [ready(own.key)] }).end).toEqual([own.key]);
    expect(plan({ moves: [ready(own.key)] }).end).toEqual([own.key]);
    expect(plan({ rows: [row('1')], moves: [ready(own.key)] }).end).toEqual([]);
    expect(plan({ moves: [ready(own.key)], twins: new Map([[own.key, twinOf(own)]]) }).end).toEqual([]);
  });

  it('tries again later when the platform does not enable the second subscription', () => {
    const own = row('1');
    const { save, actions } = plan({
      rows: [own],
      failedTwins: new Set([own.key]),
      moves: [ready(own.key)],
    });

    expect(actions).toEqual([]);
    expect(save).toMatchObject([{ attempts: 1, retryAt: now + 60_000 }]);
    expect(save[0]?.reason).toContain('PLATFORM_WEBHOOK_SECRET');
    const announced = save.map((move) => ({ ...move, isReady: true }));
    expect(plan({ rows: [own], moves: announced }).actions).toEqual([]);
    expect(plan({ rows: [own], moves: announced, now: now + 60_000 }).actions).toHaveLength(1);
  });

  it('creates as many second subscriptions as there is room for, by priority, and says why the others wait', () => {
    const rows = ['1', '2', '3'].map((id) => row(id, { cost: id === '3' ? 0 : 1 }));
    const { actions, save } = plan({ rows, moves: rows.map(({ key }) => ready(key)), room: 1 });

    expect(actions.map((action) => action.own?.id)).toEqual([rows[0]!.id, rows[2]!.id]);
    expect(save).toMatchObject([{ key: rows[1]!.key }]);
    expect(save[0]?.reason).toContain('no room');
  });

  it('waits for the socket of the user whom the subscription is about, while others move', () => {
    const rows = ['1', '2'].map((id) => row(id));
    const canCreate = ({ broadcaster_user_id: user }: Condition) => user === '2';

    expect(plan({ rows, moves: rows.map(({ key }) => ready(key)), canCreate }).actions).toEqual([
      { kind: 'create_second', own: rows[1], cost: 1 },
    ]);
  });

  it('tries a few subscriptions until the first secret has proven to work', () => {
    const rows = Array.from({ length: 30 }, (_, index) => row(String(index)));
    const proof = row('proof', { transport: first! });

    expect(plan({ rows }).save).toHaveLength(20);
    expect(plan({ rows: [...rows, proof] }).save).toHaveLength(30);
  });

  it('moves at most 500 subscriptions at a time', () => {
    const rows = Array.from({ length: 600 }, (_, index) => row(String(index)));
    const proof = row('proof', { transport: first! });

    expect(plan({ rows: [...rows, proof] }).save).toHaveLength(500);
    expect(
      plan({ rows: [...rows, proof], room: 600, moves: rows.slice(0, 499).map(({ key }) => ready(key)) })
        .save,
    ).toHaveLength(1);
  });

  it('replaces subscriptions whose secret was removed, without an overlap', () => {
    const { actions, replaced } = plan({ rows: [row('1', { transport: removed! })] });

    expect(actions).toMatchObject([
      { kind: 'delete', subscriptionId: 'old-1', after: { subscriptionId: null, status: 'enabled' } },
    ]);
    expect(replaced).toBe(1);
  });
});

const streamers = ['1', '2', '3', '4'];
const worlds = fc.record({
  secrets: fc.array(fc.constantFrom('first', 'other', 'plain', 'none'), { minLength: 4, maxLength: 4 }),
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
          const transport = { first, other, plain }[secret]!;
          const own = row(streamers[index]!, { transport });
          add(newListed(own, { id: own.subscriptionId!, transport }));
          rows.push(own);
        }
        const started = new Set(rows.map(({ key }) => key));
        let moves: SubscriptionMove[] = [];
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
            moves: moves.map((move) => ({ ...move, isReady: true, retryAt: null })),
            now: time,
            newId: () => `new-${(ids += 1)}`,
          });
          const { add: added, update, actions, moves: moved } = planned;
          rows = [...rows.filter(({ id }) => !update.some(({ before }) => before.id === id)), ...added, ...update.map(({ after }) => after)]; // prettier-ignore
          const { ending, end } = moved!;
          const save = [...moved!.save, ...ending.map(({ move }) => move)];
          moves = [...moves.filter(({ key }) => !save.some((each) => each.key === key) && !end.includes(key)), ...save]; // prettier-ignore
          const shuffled = actions.toSorted(() => ((order.next().value as number) % 2 === 0 ? 1 : -1));
          for (const action of shuffled.slice(0, steps)) {
            if (action.kind === 'delete') {
              const deleted = platform.get(action.subscriptionId)!;
              platform.delete(action.subscriptionId);
              // An overlap's end keeps the newer subscription, so the older one must be deleted.
              for (const kept of platform.values())
                if (
                  isLive(deleted.status) &&
                  isLive(kept.status) &&
                  subscriptionKey(kept) === subscriptionKey(deleted)
                )
                  expect(kept.createdAt).toBeGreaterThan(deleted.createdAt);
              if (action.own) rows = rows.filter(({ id }) => id !== action.own?.id);
              if (action.after) rows.push(action.after);
            } else {
              // The overlap must be announced before the second subscription exists.
              if (action.kind === 'create_second')
                expect(moves.map(({ key }) => key)).toContain(action.own.key);
              ids += 1;
              const status = failures.includes(ids) ? 'webhook_callback_verification_failed' : 'enabled';
              const transport = isChanged ? other! : first!;
              const made = newListed(action.own, { id: `made-${ids}`, transport, status, createdAt: time });
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
        expect(moves).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

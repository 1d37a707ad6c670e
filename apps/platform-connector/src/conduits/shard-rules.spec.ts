import { planShards, type Shard, type ShardPlan, type ShardView } from './shard-rules.js';

const me = 'me';
const other = 'other';

const shard = (id: number, overrides: Partial<Shard> = {}): Shard => ({
  id,
  holder: other,
  isExpired: false,
  isGone: false,
  heldUntil: 0,
  sessionId: `session-${id}`,
  status: 'enabled',
  statusForMs: 60_000,
  settledUntil: 0,
  ...overrides,
});
const free = { holder: null, sessionId: null, status: 'unassigned' };
const plan = (shards: Shard[], view: Partial<ShardView> = {}): ShardPlan =>
  planShards({ me: me, holders: 2, shards, open: new Map(), proven: new Set(), ...view });
const idsOf = (shards: readonly { id: number }[]): number[] => shards.map(({ id }) => id);
const claimed = (...args: Parameters<typeof plan>): number[] => idsOf(plan(...args).claim);

describe(planShards.name, () => {
  it('takes its share of free shards, and the rest when nobody takes them', () => {
    const shards = [0, 1, 2, 3].map((id) => shard(id, { ...free, statusForMs: 100 }));
    expect(claimed(shards)).toEqual([0, 1]);
    expect(claimed(shards, { holders: 1 })).toEqual([0, 1, 2, 3]);
    expect(claimed(shards.map((each) => ({ ...each, statusForMs: 3_000 })))).toEqual([0, 1, 2, 3]);
  });

  it.each([
    ['lost less than 0.2 s ago', { statusForMs: 199, status: 'websocket_disconnected' }, []],
    ['lost 0.2 s ago', { statusForMs: 200, status: 'websocket_disconnected' }, [0]],
    [
      'lost, of a holder that is gone',
      { statusForMs: 0, status: 'websocket_disconnected', isGone: true },
      [0],
    ],
    ['that its holder connects', { statusForMs: 4_999, status: 'connecting' }, []],
    ['that its holder cannot connect', { statusForMs: 5_000, status: 'connecting' }, [0]],
    ['that a dead holder was connecting', { statusForMs: 0, status: 'connecting', isExpired: true }, [0]],
    ['that is enabled', {}, []],
    [
      'that a holder was connecting that is gone',
      { statusForMs: 0, status: 'connecting', isGone: true },
      [0],
    ],
    ['that is enabled, of a holder that seems to be gone', { isGone: true }, []],
    ['that is enabled, of a holder that has not renewed its lease', { isExpired: true }, []],
    ['that its holder offers', { holder: null }, [0]],
    ['with a session of another installation', { ...free, status: 'unknown_session' }, []],
  ])('claims or leaves a shard %s', (_, overrides, expected) => {
    expect(claimed([shard(0, overrides), shard(1)])).toEqual(expected);
  });

  it('looks again soon while a shard is lost that nobody may take yet', () => {
    const lost = { status: 'websocket_disconnected', statusForMs: 1 };
    expect(plan([shard(0, lost)]).isUrgent).toBe(true);
    expect(plan([shard(0, { ...lost, statusForMs: 200 })]).isUrgent).toBe(false);
    expect(plan([shard(0)]).isUrgent).toBe(false);
  });

  it('asks the platform about the shards of another holder that is gone', () => {
    expect(plan([shard(0, { isGone: true })]).isSuspicious).toBe(true);
    expect(plan([shard(0), shard(1, { holder: me, isGone: true })]).isSuspicious).toBe(false);
  });

  it('takes an enabled shard from a holder that it has seen alive, and then dead', () => {
    expect(claimed([shard(0, { isExpired: true })], { proven: new Set([0]) })).toEqual([0]);
  });

  it('takes more than its share of lost shards, but not of those that are offered', () => {
    const mine = [shard(0, { holder: me }), shard(1, { holder: me })];
    const lost = { status: 'websocket_disconnected' };
    expect(claimed([...mine, shard(2, lost), shard(3, { holder: null })])).toEqual([2]);
  });

  it('offers what exceeds its share while all of its shards are enabled', () => {
    const mine = [0, 1, 2, 3].map((id) => shard(id, { holder: me }));
    expect(idsOf(plan(mine).offer)).toEqual([2, 3]);
    expect(plan(mine, { holders: 1 }).offer).toEqual([]);
    expect(plan([...mine.slice(1), shard(0, { holder: me, status: 'connecting' })]).offer).toEqual([]);
  });

  it('keeps the socket of an offered shard until another connector has a session for it', () => {
    const open = new Map([[0, 'session-0']]);
    expect(plan([shard(0, { holder: null })], { open, holders: 3 }).close).toEqual([]);
    expect(plan([shard(0, { status: 'connecting' })], { open }).close).toEqual([]);
    expect(plan([shard(0, { sessionId: 'another' })], { open }).close).toEqual([0]);
    expect(plan([], { open }).close).toEqual([0]);
  });

  it('replaces a socket that does not serve its shard, and only then', () => {
    const open = new Map([[0, 'session-0']]);
    const replaced = (overrides: Partial<Shard>, sockets: ReadonlyMap<number, string | null> = open) =>
      idsOf(plan([shard(0, { holder: me, ...overrides })], { open: sockets }).replace);
    expect(replaced({})).toEqual([]);
    expect(replaced({ status: 'unassigned', statusForMs: 999 })).toEqual([]);
    expect(replaced({ status: 'unassigned', statusForMs: 1_000 })).toEqual([0]);
    // A socket that has no session yet will request one itself.
    expect(replaced({ status: 'connecting' }, new Map([[0, null]]))).toEqual([]);
    expect(replaced({ status: 'connecting', statusForMs: 5_000 }, new Map())).toEqual([0]);
  });

  it('gives up a shard that another installation has taken', () => {
    const taken = shard(0, { holder: me, status: 'unknown_session' });
    const { offer, close, replace } = plan([taken], { open: new Map([[0, 'session-0']]) });
    expect({ offer: idsOf(offer), close, replace }).toEqual({ offer: [0], close: [0], replace: [] });
    expect(plan([{ ...taken, statusForMs: 2_999 }], { open: new Map([[0, 'session-0']]) }).close).toEqual([]);
  });
});

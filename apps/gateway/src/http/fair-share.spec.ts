import fc from 'fast-check';
import { FairShare, type Claim, type ShareLimits } from './fair-share.js';

function setup(limits: Partial<ShareLimits>) {
  const clock = { now: 0 };
  const gone: string[] = [];
  const share = new FairShare(
    { total: 100, perAddress: 100, patienceMs: Infinity, ...limits },
    () => clock.now,
  );
  /** Makes a claim for an address. When the claim gives way, `name` is added to `gone`. */
  const claim = (address: string, cost = 1, name = address): Claim | undefined => {
    clock.now += 1;
    const granted = share.claim(address, cost);
    granted?.offer(() => gone.push(name) > 0);
    return granted;
  };
  return { clock, gone, share, claim };
}

describe(FairShare.name, () => {
  describe('claim', () => {
    it('refuses an address at its limit until one of its claims is released', () => {
      const { claim } = setup({ perAddress: 2 });
      const first = claim('a');
      claim('a');

      expect(claim('a')).toBeUndefined();
      expect(claim('b')).toBeDefined();
      first?.release();
      first?.release();
      expect(claim('a')).toBeDefined();
      expect(claim('a')).toBeUndefined();
    });

    it('makes room at the total limit with the oldest claim of the address that holds most', () => {
      const { claim, gone } = setup({ total: 5 });
      for (const name of ['a1', 'a2', 'a3']) claim('a', 1, name);
      for (const name of ['b1', 'b2']) claim('b', 1, name);

      expect(claim('c')).toBeDefined();
      expect(gone).toEqual(['a1']);
    });

    it('refuses a newcomer whose address would hold as much as any other', () => {
      const { claim, gone } = setup({ total: 4 });
      for (const name of ['a1', 'a2']) claim('a', 1, name);
      for (const name of ['b1', 'b2']) claim('b', 1, name);

      expect(claim('b')).toBeUndefined();
      expect(gone).toEqual([]);
    });

    it('lets a claim that has lasted long give way to any newcomer', () => {
      const { claim, clock, gone } = setup({ total: 2, perAddress: 1, patienceMs: 1_000 });
      claim('a', 1, 'a1');
      claim('b', 1, 'b1');
      expect([claim('c'), claim('a')]).toEqual([undefined, undefined]);

      clock.now += 1_000;
      expect(claim('c')).toBeDefined();
      expect(claim('b')).toBeDefined();
      expect(gone).toEqual(['a1', 'b1']);
    });

    it('skips claims that cannot end, and makes as much room as it needs', () => {
      const { share, claim, gone } = setup({ total: 10 });
      share.claim('a', 2);
      share.claim('a', 2)?.offer(() => false);
      for (const name of ['a3', 'a4', 'a5']) claim('a', 2, name);

      expect(claim('b', 4)).toBeDefined();
      expect(gone).toEqual(['a3', 'a4']);
    });

    it('skips addresses whose claims cannot end', () => {
      const { share, claim, gone } = setup({ total: 10 });
      share.claim('a', 5);
      for (const name of ['b1', 'b2']) claim('b', 1, name);
      for (const name of ['c1', 'c2', 'c3']) claim('c', 1, name);

      expect(claim('d')).toBeDefined();
      expect(gone).toEqual(['c1']);
      expect(share.claim('d', 3)).toBeUndefined();
    });

    it('refuses what is larger than the limit', () => {
      const { claim, gone } = setup({ total: 10 });
      claim('a', 10);

      expect(claim('b', 101)).toBeUndefined();
      expect(gone).toEqual([]);
    });
  });

  it('stays within its limits, and always has room for an address that holds less than its share', () => {
    const addresses = ['a', 'b', 'c', 'd', 'e'];
    const limits = { total: 40, perAddress: 20, patienceMs: Infinity };
    const step = fc.record({ address: fc.constantFrom(...addresses), cost: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 200 }), (steps) => {
        const share = new FairShare(limits, () => 0);
        const held = new Map(addresses.map((address) => [address, new Map<Claim, number>()]));
        const heldBy = (address: string): number =>
          [...(held.get(address)?.values() ?? [])].reduce((sum, cost) => sum + cost, 0);
        for (const [{ address, cost }, isRelease] of steps) {
          const own = held.get(address)!;
          const [oldest] = own.keys();
          if (isRelease && oldest) {
            oldest.release();
            own.delete(oldest);
            continue;
          }
          const before = heldBy(address);
          const claim = share.claim(address, cost);
          claim?.offer(() => own.delete(claim));
          if (claim) own.set(claim, cost);
          // A fifth of the total, minus the largest claim, is always free or can be freed.
          if (before + cost <= limits.total / addresses.length - 4) expect(claim).toBeDefined();
          expect(heldBy(address)).toBeLessThanOrEqual(limits.perAddress);
          expect(addresses.map(heldBy).reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(limits.total);
        }
        for (const claims of held.values()) for (const claim of claims.keys()) claim.release();
        expect(share).toMatchObject({ total: 0, holders: new Map() });
      }),
    );
  });
});

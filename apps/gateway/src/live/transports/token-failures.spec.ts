import { TokenFailures } from './token-failures.js';

function setup() {
  const clock = { now: 0 };
  const limits = {
    minDelayMs: 1_000,
    maxDelayMs: 8_000,
    delaysPerAddress: 2,
    memoryMs: 60_000,
    addresses: 3,
  };
  const failures = new TokenFailures(limits, () => clock.now);
  return { clock, failures, fail: (address: string) => failures.add(address, clock.now) };
}

describe(TokenFailures.name, () => {
  it('doubles the delay with each failure of an address, up to a maximum', () => {
    const { fail } = setup();

    expect(Array.from({ length: 6 }, () => fail('a'))).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(fail('b')).toBe(1_000);
  });

  it('counts the time that a socket has already been open', () => {
    const { failures, clock } = setup();
    clock.now = 700;
    expect(failures.add('a', 0)).toBe(300);

    clock.now = 10_000;
    expect(failures.add('a', 0)).toBe(0);
    expect(failures.isOverLimit('a')).toBe(false);
  });

  it('forgets failures a minute after the last one', () => {
    const { fail, clock } = setup();
    fail('a');
    clock.now = 59_999;
    expect(fail('a')).toBe(2_000);
    clock.now += 60_000;

    expect(fail('a')).toBe(1_000);
  });

  it('limits the delays of an address that run at a time', () => {
    const { failures, fail, clock } = setup();
    fail('a');
    expect(failures.isOverLimit('a')).toBe(false);
    fail('a');
    expect([failures.isOverLimit('a'), failures.isOverLimit('b')]).toEqual([true, false]);

    clock.now = 1_000;
    expect(failures.isOverLimit('a')).toBe(false);
  });

  it('remembers a limited number of addresses', () => {
    const { failures, fail, clock } = setup();
    for (const address of ['a', 'b', 'c', 'a', 'd', 'e']) {
      clock.now += 1;
      fail(address);
    }

    expect(failures).toMatchObject({ byAddress: { size: 3 } });
    expect(fail('a')).toBe(4_000);
    expect(fail('b')).toBe(1_000);
  });
});

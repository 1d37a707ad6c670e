import { FailedLoginLimit } from './failed-login-limit.js';

describe(FailedLoginLimit.name, () => {
  function setup() {
    let now = 1_000;
    const limit = new FailedLoginLimit(() => now);
    const admitMany = (count: number): number =>
      Array.from({ length: count }, () => limit.admit()).filter((isAdmitted) => isAdmitted).length;
    return { limit, admitMany, advance: (ms: number) => void (now += ms) };
  }

  it('admits 60 in a minute and counts the others', () => {
    const { limit, admitMany } = setup();

    expect(admitMany(100)).toBe(60);
    expect(limit.takeSuppressed()).toBe(40);
  });

  it('counts each one only once', () => {
    const { limit, admitMany } = setup();
    admitMany(61);

    expect([limit.takeSuppressed(), limit.takeSuppressed()]).toEqual([1, 0]);
  });

  it('admits 60 again after a minute, and not before', () => {
    const { admitMany, advance } = setup();
    admitMany(60);
    advance(59_999);
    expect(admitMany(1)).toBe(0);
    advance(1);

    expect(admitMany(100)).toBe(60);
  });
});

import { CircuitBreaker } from './circuit-breaker.js';

let now: number;
let breaker: CircuitBreaker;
beforeEach(() => {
  now = 5_000;
  breaker = new CircuitBreaker({ restMs: () => 1_000, now: () => now });
});

/** Begins a request, and returns true, if the breaker permits one. */
function tryRequest(): boolean {
  if (!breaker.permits) return false;
  breaker.begin();
  return true;
}

describe(CircuitBreaker.name, () => {
  it('permits any number of requests while they succeed', () => {
    for (let count = 0; count < 5; count += 1) expect(tryRequest()).toBe(true);
    breaker.succeed();

    expect(breaker.isClosed).toBe(true);
    expect(tryRequest()).toBe(true);
  });

  it('permits no request from a failure until the rest is over', () => {
    breaker.begin();
    breaker.fail(now);

    expect(breaker.isClosed).toBe(false);
    expect(tryRequest()).toBe(false);
    now += 999;
    expect(tryRequest()).toBe(false);
    now += 1;
    expect(tryRequest()).toBe(true);
  });

  it('permits one probe after the rest, however long it takes', () => {
    breaker.fail(now);
    now += 1_000;

    expect(tryRequest()).toBe(true);
    expect(tryRequest()).toBe(false);
    now += 60_000;
    expect(tryRequest()).toBe(false);
    expect(breaker.isClosed).toBe(false);
  });

  it('does not count reading `permits` as a probe', () => {
    breaker.fail(now);
    now += 1_000;

    expect(breaker.permits).toBe(true);
    expect(breaker.permits).toBe(true);
  });

  it('closes when the probe succeeds', () => {
    breaker.fail(now);
    now += 1_000;
    tryRequest();
    breaker.succeed();

    expect(breaker.isClosed).toBe(true);
    expect(tryRequest()).toBe(true);
    expect(tryRequest()).toBe(true);
  });

  it('rests again when the probe fails', () => {
    breaker.fail(now);
    now += 1_000;
    tryRequest();
    now += 300;
    breaker.fail(now);

    now += 999;
    expect(tryRequest()).toBe(false);
    now += 1;
    expect(tryRequest()).toBe(true);
  });

  it('restarts the rest when a request that began before fails', () => {
    breaker.fail(now);
    now += 600;
    breaker.fail(now);

    now += 999;
    expect(tryRequest()).toBe(false);
    now += 1;
    expect(tryRequest()).toBe(true);
  });

  it('closes when a request that began before succeeds', () => {
    breaker.begin();
    breaker.begin();
    breaker.fail(now);
    breaker.succeed();

    expect(tryRequest()).toBe(true);
    expect(tryRequest()).toBe(true);
  });

  it('opens at each failure, however often it has closed since', () => {
    for (let round = 0; round < 3; round += 1) {
      expect(tryRequest()).toBe(true);
      breaker.fail(now);
      expect(tryRequest()).toBe(false);
      now += 1_000;
      expect(tryRequest()).toBe(true);
      breaker.succeed();
    }
  });

  it('stays closed when a request fails and another one succeeded after it began', () => {
    const begunAt = breaker.begin();
    now += 500;
    breaker.begin();
    breaker.succeed();
    now += 1_500;
    breaker.fail(begunAt);

    expect(breaker.isClosed).toBe(true);
  });

  it('opens when the last success is older than the failed request', () => {
    breaker.begin();
    breaker.succeed();
    now += 1;
    const begunAt = breaker.begin();
    now += 2_000;
    breaker.fail(begunAt);

    expect(breaker.isClosed).toBe(false);
  });

  describe('with several failures to open and growing rests', () => {
    const restsMs = [1_000, 2_000, 4_000];
    beforeEach(() => {
      const restMs = (failedProbes: number): number => restsMs[failedProbes] ?? 4_000;
      breaker = new CircuitBreaker({ failuresToOpen: 3, restMs, now: () => now });
    });

    /** Begins a request that fails 1 ms later. */
    function failOnce(): void {
      const begunAt = breaker.begin();
      now += 1;
      breaker.fail(begunAt);
    }

    it('opens at the third failure in a row, and not when a success is in between', () => {
      failOnce();
      failOnce();
      breaker.succeed();
      failOnce();
      failOnce();
      expect(breaker.permits).toBe(true);
      failOnce();

      expect(breaker.permits).toBe(false);
      expect(breaker.restsForMs).toBe(1_000);
    });

    it('rests longer after each failed probe, and as at first after a successful one', () => {
      for (let count = 0; count < 3; count += 1) failOnce();
      for (const restMs of [1_000, 2_000, 4_000, 4_000]) {
        expect(breaker.restsForMs).toBe(restMs);
        now += restMs;
        failOnce();
      }
      now += 4_000;
      breaker.begin();
      breaker.succeed();
      expect(breaker.restsForMs).toBe(0);
      for (let count = 0; count < 3; count += 1) failOnce();

      expect(breaker.restsForMs).toBe(1_000);
    });

    it('does not rest longer when requests fail that began before it opened', () => {
      const stragglers = [1, 2, 3, 4, 5, 6].map(() => breaker.begin());
      now += 10;
      for (const begunAt of stragglers) breaker.fail(begunAt);

      expect(breaker.restsForMs).toBe(1_000);
    });
  });
});

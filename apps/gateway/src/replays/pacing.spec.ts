import fc from 'fast-check';
import { beginPacing, countDue, msUntilDue, refill, spend, type Pacing } from './pacing.js';

/** Returns the send times of events that are always available, in a process whose timers are `lateMs` late. */
function play(rate: number, count: number, lateMs = 0): number[] {
  let pacing = beginPacing(rate, 0);
  let now = 0;
  const times: number[] = [];
  while (times.length < count) {
    pacing = refill(pacing, now);
    const due = Math.min(countDue(pacing), count - times.length);
    times.push(...Array.from({ length: due }, () => now));
    pacing = spend(pacing, due);
    now += due > 0 ? 0 : msUntilDue(pacing) + lateMs;
  }
  return times;
}

/** Returns the maximum number of events in any second that ends with an event. */
function mostInASecond(times: readonly number[]): number {
  let begin = 0;
  return Math.max(
    ...times.map((time, index) => {
      while ((times[begin] ?? 0) <= time - 1_000) begin += 1;
      return index - begin + 1;
    }),
  );
}

describe(beginPacing.name, () => {
  it('sends the first event at once', () => {
    expect(countDue(refill(beginPacing(1, 1_234), 1_234))).toBe(1);
  });

  it.each([1, 3, 20, 49])('sends %d events per second one by one, evenly', (rate) => {
    const times = play(rate, 3 * rate);

    for (const [index, time] of times.entries()) expect(time).toBeCloseTo((index * 1_000) / rate, 3);
  });

  it('sends several events together at high rates', () => {
    const batches = new Set(play(1_000, 10_000));

    expect(batches.size).toBeGreaterThan(300);
    expect(batches.size).toBeLessThan(510);
  });

  it.each([1, 20, 137, 1_000])('keeps %d events per second on average although timers are late', (rate) => {
    const times = play(rate, 20 * rate, 2);

    const seconds = (times.at(-1) ?? 0) / 1_000;
    expect((times.length - 1) / seconds).toBeGreaterThan(0.97 * rate);
    expect((times.length - 1) / seconds).toBeLessThanOrEqual(1.001 * rate);
  });

  it('catches up on a quarter of a second after a longer pause', () => {
    const after = (ms: number): number => countDue(refill(spend(beginPacing(100, 0), 1), ms));

    expect([after(10), after(200), after(250), after(60_000)]).toEqual([1, 20, 25, 25]);
    expect(countDue(refill(spend(beginPacing(1, 0), 1), 60_000))).toBe(1);
  });

  it('never sends more than the rate plus the catch-up within a second', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), pauses, (rate, waits) => {
        let pacing: Pacing = beginPacing(rate, 0);
        let now = 0;
        const times: number[] = [];
        for (const wait of waits) {
          pacing = refill(pacing, now);
          times.push(...Array.from({ length: countDue(pacing) }, () => now));
          pacing = spend(pacing, countDue(pacing));
          now += wait;
        }
        if (times.length > 0) expect(mostInASecond(times)).toBeLessThanOrEqual(1.25 * rate + 1);
      }),
    );
  });

  it('never waits for less than the shortest pause', () => {
    expect(msUntilDue(spend(beginPacing(1_000, 0), 1))).toBe(20);
    expect(msUntilDue(spend(beginPacing(1, 0), 1))).toBe(1_000);
  });
});

/** How many events may go out: the credit grows with time, and each event takes one. */
export interface Pacing {
  /** Events a second. */
  readonly rate: number;
  readonly credit: number;
  /** When the credit was reckoned, in milliseconds of a clock that never goes back. */
  readonly at: number;
}

// What a slow page or a busy process has held up goes out at once, up to so much of it; a longer pause is not made up for.
const maxCatchUpMs = 250;
// At high rates some events go out together: a timer is no more precise, and each batch is a round trip to the broker.
const minPauseMs = 20;

/** Begins with one event, at once. */
export function beginPacing(rate: number, now: number): Pacing {
  return { rate, credit: 1, at: now };
}

/** The credit as it is now. */
export function refill({ rate, credit, at }: Pacing, now: number): Pacing {
  const most = Math.max(1, (rate * maxCatchUpMs) / 1_000);
  return { rate, credit: Math.min(most, credit + (rate * (now - at)) / 1_000), at: now };
}

/** How many may go out at once. */
export function countDue({ credit }: Pacing): number {
  // What rounding has taken from a whole one must not cost it another pause.
  return Math.floor(credit + 1e-6);
}

/** After so many have gone out. */
export function spend(pacing: Pacing, count: number): Pacing {
  return { ...pacing, credit: pacing.credit - count };
}

/** How long to wait for the next one. */
export function msUntilDue({ rate, credit }: Pacing): number {
  return Math.max(minPauseMs, ((1 - credit) * 1_000) / rate);
}

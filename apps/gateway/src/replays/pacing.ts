/** A token bucket for a replay: the credit grows with time, and each event costs one credit. */
export interface Pacing {
  /** Events per second. */
  readonly rate: number;
  readonly credit: number;
  /** When the credit was computed, in milliseconds of a monotonic clock. */
  readonly at: number;
}

// Limits the burst after a delay, such as a slow page or a busy event loop. A replay immediately sends the events of at most this much
// time, and does not make up for the rest of the delay.
const maxCatchUpMs = 250;
// Shortest pause between two batches. At high rates, a batch has several events, because timers are imprecise and each batch costs a round
// trip to NATS.
const minPauseMs = 20;

/** Returns a bucket with credit for one event. */
export function beginPacing(rate: number, now: number): Pacing {
  return { rate, credit: 1, at: now };
}

/** Returns the bucket with its credit at the time `now`. */
export function refill({ rate, credit, at }: Pacing, now: number): Pacing {
  const most = Math.max(1, (rate * maxCatchUpMs) / 1_000);
  return { rate, credit: Math.min(most, credit + (rate * (now - at)) / 1_000), at: now };
}

/** Returns how many events the replay may send now. */
export function countDue({ credit }: Pacing): number {
  // The tolerance prevents an extra pause after a rounding error.
  return Math.floor(credit + 1e-6);
}

/** Returns the bucket after sending `count` events. */
export function spend(pacing: Pacing, count: number): Pacing {
  return { ...pacing, credit: pacing.credit - count };
}

/** Returns how long to wait before sending the next events, in milliseconds. */
export function msUntilDue({ rate, credit }: Pacing): number {
  return Math.max(minPauseMs, ((1 - credit) * 1_000) / rate);
}

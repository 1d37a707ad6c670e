import { createHash } from 'node:crypto';
import { Random } from './random.js';

/** One broadcast. Times are by the platform's clock, in milliseconds since 1970. */
export interface Stream {
  readonly id: string;
  readonly userId: string;
  readonly startedAt: number;
  endedAt: number | null;
  /** From when the platform's list shows it: that comes from a cache, which lags. */
  readonly listedFrom: number;
  /** Until when the list shows it; Infinity while it runs. */
  listedUntil: number;
  /** What was set by hand; null wanders by itself. */
  viewers: number | null;
}

// Between two of these the number of viewers stays as it is, as on the platform, which counts now and then.
const viewersChangeEveryMs = 30_000;

/**
 * The id of a user's nth stream: it follows from the seed, whoever else went live before. Fifteen digits, so that two
 * of a million streams are the same with a chance of one in two thousand.
 */
export function createStreamId(seed: string, userId: string, count: number): string {
  const hash = createHash('sha256').update(`${seed}/${userId}/${count}`).digest();
  return String(100_000_000_000_000n + (hash.readBigUInt64BE() % 900_000_000_000_000n));
}

/** How many watch now: a number that wanders around one of the stream's own. */
export function countViewers(stream: Stream, now: number): number {
  if (stream.viewers !== null) return stream.viewers;
  const random = new Random(stream.id);
  const usual = random.integer(3, 60) ** 2;
  const phase = random.next() * 2 * Math.PI;
  const period = Math.floor(Math.max(0, now - stream.startedAt) / viewersChangeEveryMs);
  const noise = new Random(`${stream.id}/${period}`).next() / 10;
  return Math.round(usual * (1 + 0.3 * Math.sin(period / 20 + phase) + noise));
}

/** Whether the platform's list shows the stream. */
export function isListed({ listedFrom, listedUntil }: Stream, now: number): boolean {
  return listedFrom <= now && now < listedUntil;
}

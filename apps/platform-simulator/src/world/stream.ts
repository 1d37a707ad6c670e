import { createHash } from 'node:crypto';
import { Random } from './random.js';

/** A stream. Times are in milliseconds since 1970. */
export interface Stream {
  readonly id: string;
  readonly userId: string;
  readonly startedAt: number;
  endedAt: number | null;
  /** When the streams API starts to list the stream. The API lags, as on the platform. */
  readonly listedFrom: number;
  /** When the streams API stops listing the stream. Infinity while the stream is live. */
  listedUntil: number;
  /** Fixed viewer count. Null if the count changes over time. */
  viewers: number | null;
}

// Time between two changes of the viewer count. The platform does not update its counts continuously either.
const viewersChangeEveryMs = 30_000;

/**
 * Id of the user's stream number `count`, derived only from the arguments. With 15 digits, a million streams contain a duplicate id with a
 * probability of about 1 in 2,000.
 */
export function createStreamId(seed: string, userId: string, count: number): string {
  const hash = createHash('sha256').update(`${seed}/${userId}/${count}`).digest();
  return String(100_000_000_000_000n + (hash.readBigUInt64BE() % 900_000_000_000_000n));
}

/** The count varies around a number that is derived from the stream's id. */
export function countViewers(stream: Stream, now: number): number {
  if (stream.viewers !== null) return stream.viewers;
  const random = new Random(stream.id);
  const usual = random.integer(3, 60) ** 2;
  const phase = random.next() * 2 * Math.PI;
  const period = Math.floor(Math.max(0, now - stream.startedAt) / viewersChangeEveryMs);
  const noise = new Random(`${stream.id}/${period}`).next() / 10;
  return Math.round(usual * (1 + 0.3 * Math.sin(period / 20 + phase) + noise));
}

export function isListed({ listedFrom, listedUntil }: Stream, now: number): boolean {
  return listedFrom <= now && now < listedUntil;
}

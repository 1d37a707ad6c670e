import { ServiceError } from '@stream-events/contracts';
import type { BytesByUser, DailyBytes } from './stored-bytes.repository.js';

/** The limits of the EVENTS stream. */
export interface StreamLimits {
  maxBytes: number;
  maxAgeMs: number;
}

/** The limit that a refused client event would have exceeded. */
export type StorageLimit = 'per_day' | 'events_share';

/** Reports that a client's event would exceed one of the limits. */
export class StorageLimitError extends ServiceError {
  constructor(
    readonly limit: StorageLimit,
    detail: string,
    retryAfterSeconds: number,
  ) {
    super('too_many_requests', detail, { retryAfterSeconds });
  }
}

export const mebibyte = 1024 ** 2;
const dayMs = 86_400_000;
const maxStepBackMs = 3_600_000;

/** The share of the EVENTS stream that client events may fill, so that they shorten the stream's time window by at most a tenth. */
export const clientShare = 0.1;

/** Returns the UTC day of a time in milliseconds since 1970, as YYYY-MM-DD. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The bytes of each user, and the sum for all users. */
class Sums {
  private readonly byUser = new Map<string, number>();
  total = 0;

  constructor(given: BytesByUser = new Map()) {
    for (const [userId, bytes] of given) this.add(userId, bytes);
  }

  of(userId: string): number {
    return this.byUser.get(userId) ?? 0;
  }

  add(userId: string, bytes: number): void {
    this.byUser.set(userId, this.of(userId) + bytes);
    this.total += bytes;
  }

  entries(): Iterable<[userId: string, bytes: number]> {
    return this.byUser;
  }
}

/**
 * Decides whether users may store more events, from the counts of this gateway and the known counts of all gateways:
 *
 * ```
 *        earlier days of the stream's window │ today
 *  ─────────────────────────────────────────┼──────────────────────────────────────
 *   earlier: read once a minute             │ known: read every second (idle: every 10 s)
 *                                           │ counted: not written yet
 *                                           └──── at most MAX_STORED_MB_PER_DAY of a user
 *  └──────────── of all users, at most a tenth of the EVENTS stream ──────────────┘
 * ```
 *
 * A user's events cannot exceed the part of this tenth that is still free. A single user can therefore fill only half of the tenth, and
 * some space is always left for other users.
 */
export class StorageBudgets {
  private today: string;
  private earlier = new Sums();
  private known = new Sums();
  /** By day, because a count from before midnight can be written to the database after midnight. */
  private readonly counted = new Map<string, Sums>();
  private stream: StreamLimits | undefined;

  constructor(
    private readonly bytesPerDay: number,
    private readonly now: () => number = () => Date.now(),
  ) {
    this.today = dayOf(now());
  }

  /**
   * Counts the bytes of an event that a user stores. Returns a function that subtracts these bytes, for an event that was not stored.
   *
   * @throws StorageLimitError
   */
  take(userId: string, bytes: number): () => void {
    this.beginDay();
    this.refuseOverDay(userId, bytes);
    this.refuseOverShare(userId, bytes);
    const day = this.today;
    this.count(day, userId, bytes);
    return () => this.count(day, userId, -bytes);
  }

  /** Whether some counts have not been written to the database yet. */
  get hasCounted(): boolean {
    return this.counted.size > 0;
  }

  /** The bytes of all users that count toward the share of the stream. */
  get total(): number {
    return [...this.counted.values()].reduce(
      (sum, { total }) => sum + total,
      this.earlier.total + this.known.total,
    );
  }

  /** The maximum bytes of all users together on the stream. Undefined: no limit. */
  get share(): number | undefined {
    return this.stream && this.stream.maxBytes * clientShare;
  }

  /** The current day, and the first day whose counts are needed: the oldest day whose events can still be on the stream. */
  get days(): { today: string; first: string } {
    return { today: this.beginDay(), first: dayOf(this.now() - (this.stream?.maxAgeMs ?? 0)) };
  }

  /** Adds the new counts to the known counts, and returns the new counts. The caller must write them to the database. */
  flush(): DailyBytes[] {
    const added = [...this.counted].flatMap(([day, sums]) =>
      [...sums.entries()].map(([userId, bytes]) => ({ day, userId, bytes })),
    );
    for (const { day, userId, bytes } of added)
      (day === this.today ? this.known : this.earlier).add(userId, bytes);
    this.counted.clear();
    return added;
  }

  /** Reverts `flush` for counts that could not be written to the database. */
  restore(added: readonly DailyBytes[]): void {
    for (const { day, userId, bytes } of added) {
      (day === this.today ? this.known : this.earlier).add(userId, -bytes);
      this.count(day, userId, bytes);
    }
  }

  /** Replaces today's known counts with the counts read for `day`. Does nothing if a new day has begun since the read. */
  learnToday(day: string, bytes: BytesByUser): void {
    if (day === this.beginDay()) this.known = new Sums(bytes);
  }

  /** Replaces the known counts of all days before `day`. Does nothing if a new day has begun since the read. */
  learnEarlier(day: string, bytes: BytesByUser): void {
    if (day === this.beginDay()) this.earlier = new Sums(bytes);
  }

  /** Sets the limits of the stream. Undefined: the size of the stream has no limit. */
  learnStream(stream: StreamLimits | undefined): void {
    this.stream = stream;
  }

  private beginDay(): string {
    const day = dayOf(this.now());
    if (day === this.today) return day;
    if (day < this.today) {
      // A small step back over midnight: keep the later day.
      if (Date.parse(this.today) - this.now() < maxStepBackMs) return this.today;
      // The clock was wrong before. The counts of the right day are read within a second.
      this.known = new Sums();
      this.today = day;
      return day;
    }
    for (const [userId, bytes] of this.known.entries()) this.earlier.add(userId, bytes);
    this.known = new Sums();
    this.today = day;
    return day;
  }

  private count(day: string, userId: string, bytes: number): void {
    const sums = this.counted.get(day) ?? new Sums();
    sums.add(userId, bytes);
    this.counted.set(day, sums);
  }

  private refuseOverDay(userId: string, bytes: number): void {
    const stored = this.known.of(userId) + (this.counted.get(this.today)?.of(userId) ?? 0);
    if (stored + bytes <= this.bytesPerDay) return;
    throw new StorageLimitError(
      'per_day',
      `You have stored ${print(stored)} of events today. The limit is ${print(this.bytesPerDay)} per user and day (MAX_STORED_MB_PER_DAY). Retry after midnight UTC.`,
      this.secondsUntilMidnight(),
    );
  }

  private refuseOverShare(userId: string, bytes: number): void {
    const { share, stream, total } = this;
    if (share === undefined || !stream) return;
    const counted = [...this.counted.values()].reduce((sum, sums) => sum + sums.of(userId), 0);
    const own = this.earlier.of(userId) + this.known.of(userId) + counted;
    if (own + bytes <= share - total) return;
    throw new StorageLimitError(
      'events_share',
      `In the last ${Math.ceil(stream.maxAgeMs / dayMs)} days, you have stored ${print(own)} of events, and all users together ${print(total)}. The limit for all users is ${print(share)}, which is 10 % of the EVENTS stream (EVENTS_MAX_GB). Your events cannot exceed the part of this limit that is still free. Retry after midnight UTC.`,
      this.secondsUntilMidnight(),
    );
  }

  private secondsUntilMidnight(): number {
    return Math.ceil((dayMs - (this.now() % dayMs)) / 1_000);
  }
}

function print(bytes: number): string {
  return `${(Math.max(bytes, 0) / mebibyte).toFixed(1)} MiB`;
}

import { ServiceError } from '@stream-events/contracts';
import type { BytesByUser, DailyBytes } from './stored-bytes.repository.js';

export interface StreamLimits {
  maxBytes: number;
  maxAgeMs: number;
}

/** Which limit a client's event would exceed. */
export type StorageLimit = 'per_day' | 'events_share';

/** The event would exceed a storage limit, so it was not stored. */
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

/** Client events can fill this share of the EVENTS stream. They can therefore shorten the stream's time window by at most a tenth. */
export const clientShare = 0.1;

/** Formats the UTC day of a time in milliseconds since 1970: YYYY-MM-DD. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Bytes per user, and in total. */
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
 * Decides whether users can store more events. Adds the counts of this gateway to the last known counts of all gateways:
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
 * One user's events can take only as much of this tenth as is still free. A single user can therefore fill at most half of the tenth, and
 * other users always have some space.
 */
export class StorageBudgets {
  private today: string;
  private earlier = new Sums();
  private known = new Sums();
  /** By day: counts from before midnight may be written after midnight. */
  private readonly counted = new Map<string, Sums>();
  private stream: StreamLimits | undefined;

  constructor(
    private readonly bytesPerDay: number,
    private readonly now: () => number = () => Date.now(),
  ) {
    this.today = dayOf(now());
  }

  /**
   * Counts an event of a user. Call the returned function to subtract the event again if it was not stored.
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

  /** Whether some counts are not in the database yet. */
  get hasCounted(): boolean {
    return this.counted.size > 0;
  }

  /** Bytes of all users, as counted toward `share`. */
  get total(): number {
    return [...this.counted.values()].reduce(
      (sum, { total }) => sum + total,
      this.earlier.total + this.known.total,
    );
  }

  /** Maximum bytes of all users on the stream. Undefined: no limit. */
  get share(): number | undefined {
    return this.stream && this.stream.maxBytes * clientShare;
  }

  /** `first` is the oldest day whose events can still be on the stream. Counts of earlier days are not needed. */
  get days(): { today: string; first: string } {
    return { today: this.beginDay(), first: dayOf(this.now() - (this.stream?.maxAgeMs ?? 0)) };
  }

  /** Moves the unwritten counts to the known counts and returns them. The caller must write them to the database. */
  flush(): DailyBytes[] {
    const added = [...this.counted].flatMap(([day, sums]) =>
      [...sums.entries()].map(([userId, bytes]) => ({ day, userId, bytes })),
    );
    for (const { day, userId, bytes } of added)
      (day === this.today ? this.known : this.earlier).add(userId, bytes);
    this.counted.clear();
    return added;
  }

  /** Reverts `flush` after a failed write. */
  restore(added: readonly DailyBytes[]): void {
    for (const { day, userId, bytes } of added) {
      (day === this.today ? this.known : this.earlier).add(userId, -bytes);
      this.count(day, userId, bytes);
    }
  }

  /** Replaces today's known counts with `bytes`, as read for `day`. Ignores `bytes` if a new day has begun since the read. */
  learnToday(day: string, bytes: BytesByUser): void {
    if (day === this.beginDay()) this.known = new Sums(bytes);
  }

  /** Replaces the known counts of the days before `day` with `bytes`. Ignores `bytes` if a new day has begun since the read. */
  learnEarlier(day: string, bytes: BytesByUser): void {
    if (day === this.beginDay()) this.earlier = new Sums(bytes);
  }

  /** Sets the limits of the EVENTS stream. Undefined: the stream has no size limit. */
  learnStream(stream: StreamLimits | undefined): void {
    this.stream = stream;
  }

  private beginDay(): string {
    const day = dayOf(this.now());
    if (day === this.today) return day;
    if (day < this.today) {
      // The clock stepped back a little across midnight. Keep the later day.
      if (Date.parse(this.today) - this.now() < maxStepBackMs) return this.today;
      // The clock was wrong before. The next sync reads the counts of the right day.
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
      `You have stored ${print(stored)} today. The limit is ${print(this.bytesPerDay)} per user and day (MAX_STORED_MB_PER_DAY). Retry after midnight UTC.`,
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

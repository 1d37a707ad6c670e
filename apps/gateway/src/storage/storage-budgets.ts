import { ServiceError } from '@stream-events/contracts';
import type { BytesByUser, DailyBytes } from './stored-bytes.repository.js';

/** The limits of the EVENTS stream. */
export interface StreamLimits {
  maxBytes: number;
  maxAgeMs: number;
}

/** Why an event of a client is refused. */
export type StorageLimit = 'per_day' | 'events_share';

/** An event of a client is over one of the limits. */
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

/** The share of the EVENTS stream that events of clients may fill. They shorten the stream's time window by at most a tenth. */
export const clientShare = 0.1;

/** Returns the day of a time in UTC: YYYY-MM-DD. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The bytes of users, and their sum. */
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
 * Decides whether users may store more, from what this gateway has counted and what it knows of all gateways:
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
 * A user can store at most as much of this tenth as is still free for all users. A single user therefore gets half of it, and something is
 * always left for others.
 */
export class StorageBudgets {
  private today: string;
  private earlier = new Sums();
  private known = new Sums();
  /** By day, because an event that is counted before midnight may be written after it. */
  private readonly counted = new Map<string, Sums>();
  private stream: StreamLimits | undefined;

  constructor(
    private readonly bytesPerDay: number,
    private readonly now: () => number = () => Date.now(),
  ) {
    this.today = dayOf(now());
  }

  /**
   * Counts bytes that a user stores. The returned function takes them back, if nothing was stored.
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

  /** Whether something was counted that has not been written. */
  get hasCounted(): boolean {
    return this.counted.size > 0;
  }

  /** The bytes of all users that count against their share of the stream. */
  get total(): number {
    return [...this.counted.values()].reduce(
      (sum, { total }) => sum + total,
      this.earlier.total + this.known.total,
    );
  }

  /** The bytes that all users together may have on the stream; undefined: any number. */
  get share(): number | undefined {
    return this.stream && this.stream.maxBytes * clientShare;
  }

  /** The present day, and the first day that counts. An event of this day can be on the stream until its last moment. */
  get days(): { today: string; first: string } {
    return { today: this.beginDay(), first: dayOf(this.now() - (this.stream?.maxAgeMs ?? 0)) };
  }

  /** Returns what was counted, to be written to the database. From now on, it counts as known. */
  flush(): DailyBytes[] {
    const added = [...this.counted].flatMap(([day, sums]) =>
      [...sums.entries()].map(([userId, bytes]) => ({ day, userId, bytes })),
    );
    for (const { day, userId, bytes } of added)
      (day === this.today ? this.known : this.earlier).add(userId, bytes);
    this.counted.clear();
    return added;
  }

  /** Counts again what could not be written. */
  restore(added: readonly DailyBytes[]): void {
    for (const { day, userId, bytes } of added) {
      (day === this.today ? this.known : this.earlier).add(userId, -bytes);
      this.count(day, userId, bytes);
    }
  }

  /** Replaces what is known of a day, unless another day has begun. */
  learnToday(day: string, bytes: BytesByUser): void {
    if (day === this.beginDay()) this.known = new Sums(bytes);
  }

  /** Replaces what is known of the days before a day, unless another day has begun. */
  learnEarlier(day: string, bytes: BytesByUser): void {
    if (day === this.beginDay()) this.earlier = new Sums(bytes);
  }

  /** Sets the limits of the stream; undefined: it has no limit of size. */
  learnStream(stream: StreamLimits | undefined): void {
    this.stream = stream;
  }

  private beginDay(): string {
    const day = dayOf(this.now());
    // A clock that goes back stays within the later day.
    if (day <= this.today) return this.today;
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
      `In the last ${Math.ceil(stream.maxAgeMs / dayMs)} days, you have stored ${print(own)} of events, and all users ${print(total)}. The limit for all users is ${print(share)}, which is 10 % of the EVENTS stream (EVENTS_MAX_GB), and you can have at most as much as is still free. Retry after midnight UTC.`,
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

import { Inject, Injectable } from '@nestjs/common';
import { findNamedUsers, receivedAt, type NewEvent } from '@stream-events/contracts';
import { FailureLog, LOGGER, UserHasher, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';

/** A user whose events are erased, or are being erased. */
export interface ErasedUser {
  /** Null when the erasure has ended. */
  platformUserId: string | null;
  /** See `UserHasher`. */
  userHash: string;
  /** Events that were received until then are erased. Milliseconds since 1970. */
  until: number;
}

const intervalMs = 1_000;

/**
 * A list of users that is older than this is read again before the next write. An erasure searches the store only after this time:
 * see `announcementMs`.
 */
export const maxListAgeMs = 3_000;

/**
 * The users whose events must not be stored any more: messages that were received before the erasure, but arrive after it. Such
 * messages wait on the INGEST stream, in a gateway, or among the dead letters. Events that were received later are not affected, and
 * cost one comparison of times.
 */
@Injectable()
export class ErasedUsers {
  private readonly failureLog: FailureLog;
  private users: readonly ErasedUser[] = [];
  private latestUntil = 0;
  /** From a monotonic clock: when the current list was requested. */
  private loadedAt = -Infinity;
  private loading: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly hasher: UserHasher,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
  }

  /** Reads the list every second. */
  start(): void {
    this.timer = setInterval(() => {
      this.refresh().catch((err: unknown) => this.failureLog.warn('cannot read the erased users', { err }));
    }, intervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    // The failure was already reported to the caller that waits for the list.
    await this.loading?.catch(() => undefined);
  }

  /**
   * Returns the events that must not be stored.
   *
   * @throws the database's error when the list is too old and cannot be read
   */
  async select<T extends Pick<NewEvent, 'id' | 'eventData'>>(events: readonly T[]): Promise<Set<T>> {
    if (performance.now() > this.loadedAt + maxListAgeMs) await this.refresh();
    if (this.latestUntil === 0) return new Set();
    const late = events.filter(({ id }) => receivedAt(id) <= this.latestUntil);
    return new Set(late.filter((event) => this.isErased(event)));
  }

  /** Reads the list now. */
  refresh(): Promise<void> {
    this.loading ??= this.read().finally(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  private isErased({ id, eventData }: Pick<NewEvent, 'id' | 'eventData'>): boolean {
    const users = this.users.filter(({ until }) => receivedAt(id) <= until);
    if (users.length === 0) return false;
    return findNamedUsers(eventData).some((named) =>
      users.some((user) => isUser(user, named.id, this.hasher)),
    );
  }

  private async read(): Promise<void> {
    const requestedAt = performance.now();
    const users = await this.dataSource.query<ErasedUser[]>(
      `SELECT platform_user_id AS "platformUserId", user_hash AS "userHash",
              floor(extract(epoch FROM erases_until) * 1000)::float8 AS until
       FROM erasures WHERE NOT is_dry_run`,
    );
    this.users = users;
    this.latestUntil = Math.max(0, ...users.map(({ until }) => until));
    this.loadedAt = requestedAt;
  }
}

/** Whether an id is the id of the user. */
export function isUser(user: Omit<ErasedUser, 'until'>, id: string, hasher: UserHasher): boolean {
  return user.platformUserId === null
    ? hasher.hashes(id).includes(user.userHash)
    : id === user.platformUserId;
}

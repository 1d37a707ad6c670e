import { Inject, Injectable } from '@nestjs/common';
import { findNamedUsers, receivedAt, type NewEvent } from '@stream-events/contracts';
import { LOGGER, UserHasher, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { RecentValue } from './recent-value.js';

/** A user whose events are erased or being erased. */
export interface ErasedUser {
  /** Null when only the hash of the id is known, and once the erasure has ended. */
  platformUserId: string | null;
  /** See `UserHasher`. */
  userHash: string;
  /** Only events that were received up to this time (milliseconds since 1970) are erased. */
  until: number;
}

interface ErasedUserList {
  users: readonly ErasedUser[];
  latestUntil: number;
}

/**
 * Finds the events that name an erased user and must not be stored. A message from before an erasure can reach the store late, because it
 * waited on the INGEST stream, in a gateway, or as a dead letter. Events received after the erasure may be stored; for them, the check
 * costs one comparison of times.
 */
@Injectable()
export class ErasedUsers {
  private readonly list: RecentValue<ErasedUserList>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly hasher: UserHasher,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.list = new RecentValue({ name: 'the erased users', read: () => this.read(), logger });
  }

  /** Reads the list every second. */
  start(): void {
    this.list.start();
  }

  stop(): Promise<void> {
    return this.list.stop();
  }

  /**
   * Returns the events that must not be stored: they name an erased user and were received no later than that erasure's `until`.
   *
   * @throws the database's error when the list is older than 3 s and cannot be read
   */
  async select<T extends Pick<NewEvent, 'id' | 'eventData'>>(events: readonly T[]): Promise<Set<T>> {
    const { users, latestUntil } = await this.list.get();
    if (latestUntil === 0) return new Set();
    const late = events.filter(({ id }) => receivedAt(id) <= latestUntil);
    return new Set(late.filter((event) => this.isErased(event, users)));
  }

  refresh(): Promise<void> {
    return this.list.refresh();
  }

  private isErased(
    { id, eventData }: Pick<NewEvent, 'id' | 'eventData'>,
    all: readonly ErasedUser[],
  ): boolean {
    const users = all.filter(({ until }) => receivedAt(id) <= until);
    if (users.length === 0) return false;
    return findNamedUsers(eventData).some((named) =>
      users.some((user) => isUser(user, named.id, this.hasher)),
    );
  }

  private async read(): Promise<ErasedUserList> {
    const users = await this.dataSource.query<ErasedUser[]>(
      `SELECT platform_user_id AS "platformUserId", user_hash AS "userHash",
              floor(extract(epoch FROM erases_until) * 1000)::float8 AS until
       FROM erasures WHERE NOT is_dry_run`,
    );
    return { users, latestUntil: Math.max(0, ...users.map(({ until }) => until)) };
  }
}

/** Whether the user has this id. */
export function isUser(user: Omit<ErasedUser, 'until'>, id: string, hasher: UserHasher): boolean {
  return user.platformUserId === null ? hasher.hash(id) === user.userHash : id === user.platformUserId;
}

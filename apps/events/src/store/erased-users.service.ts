import { Inject, Injectable } from '@nestjs/common';
import { findNamedUsers, receivedAt, type NewEvent } from '@stream-events/contracts';
import { LOGGER, UserHasher, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { RecentValue } from './recent-value.js';

/** A user whose events are erased, or are being erased. */
export interface ErasedUser {
  /** Null when the erasure has ended. */
  platformUserId: string | null;
  /** See `UserHasher`. */
  userHash: string;
  /** Events that were received up to this time (milliseconds since 1970) are erased. */
  until: number;
}

interface ErasedUserList {
  users: readonly ErasedUser[];
  latestUntil: number;
}

/**
 * Keeps the list of users whose events must not be stored anymore. A message that was received before an erasure can reach the store after
 * the erasure, because the message waited on the INGEST stream, in a gateway, or among the dead letters. Events that were received after
 * the erasure are not affected. For such an event, the check costs one comparison of times.
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
   * Returns the events that must not be stored: events that name an erased user and were received at or before the erasure's `until`.
   *
   * @throws the database's error when the list is older than 3 s and cannot be read
   */
  async select<T extends Pick<NewEvent, 'id' | 'eventData'>>(events: readonly T[]): Promise<Set<T>> {
    const { users, latestUntil } = await this.list.get();
    if (latestUntil === 0) return new Set();
    const late = events.filter(({ id }) => receivedAt(id) <= latestUntil);
    return new Set(late.filter((event) => this.isErased(event, users)));
  }

  /** Reads the list now. */
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

/** Whether an id is the id of the user. */
export function isUser(user: Omit<ErasedUser, 'until'>, id: string, hasher: UserHasher): boolean {
  return user.platformUserId === null
    ? hasher.hashes(id).includes(user.userHash)
    : id === user.platformUserId;
}

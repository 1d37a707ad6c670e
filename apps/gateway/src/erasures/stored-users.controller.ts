import { Controller } from '@nestjs/common';
import {
  gatewayStoredUsers,
  maxStoredUsersPage,
  type EraseStoredUserReply,
  type EraseStoredUserRequest,
  type ListStoredUsersReply,
  type ListStoredUsersRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { DataSource } from 'typeorm';

// Ids of platform users have at most 255 characters; longer values are other filters.
const maxIdLength = 255;

// Compare with every filter value, whatever its name: no other filter has the id of a user as its value. `user_id` ignores case.
const namesUser = `EXISTS (SELECT FROM jsonb_each_text(filters) AS filter WHERE lower(filter.value) = lower($1))`;

/** Erases replays and rehearsals whose filters contain the id of an erased user. A gateway that runs such a replay stops. */
@Controller()
export class StoredUsersController {
  constructor(private readonly dataSource: DataSource) {}

  @Handles(gatewayStoredUsers.list)
  async list({ after = '' }: ListStoredUsersRequest): Promise<ListStoredUsersReply> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT DISTINCT value COLLATE "C" AS id
       FROM (SELECT filters FROM replays UNION ALL SELECT filters FROM rehearsals) AS stored,
         jsonb_each_text(filters) AS filter
       WHERE value COLLATE "C" > $1 AND length(value) <= ${maxIdLength} ORDER BY id LIMIT ${maxStoredUsersPage}`,
      [after],
    );
    return { ids: rows.map(({ id }) => id) };
  }

  @Handles(gatewayStoredUsers.erase)
  async erase({ platformUserId, isDryRun }: EraseStoredUserRequest): Promise<EraseStoredUserReply> {
    const eraseFrom = async (table: 'replays' | 'rehearsals'): Promise<number> => {
      const [row] = await this.dataSource.query<{ count: number }[]>(
        isDryRun
          ? `SELECT count(*)::int AS count FROM ${table} WHERE ${namesUser}`
          : `WITH erased AS (DELETE FROM ${table} WHERE ${namesUser} RETURNING 1) SELECT count(*)::int AS count FROM erased`,
        [platformUserId],
      );
      return row?.count ?? 0;
    };
    return { pictures: 0, replays: await eraseFrom('replays'), rehearsals: await eraseFrom('rehearsals') };
  }
}

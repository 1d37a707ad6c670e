import { Injectable } from '@nestjs/common';
import {
  findNeighbours,
  identityKeys,
  isStorableText,
  type ListSubscriptionsReply,
  type ListSubscriptionsRequest,
  type SubscriptionMessage,
} from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { toTransport, type TransportColumns } from './subscriptions.repository.js';

const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const channelKeys = identityKeys.channel.filter(({ path }) => path[0] === 'condition').map(({ id }) => id);

/**
 * The channel that a subscription is about. For raids, this is the raiding or the raided channel. `user_id` counts only if the condition
 * names no other channel, because the user who reads a chat may be a bot.
 */
export const channelOfCondition = `coalesce(${channelKeys.map((key) => `condition->>'${key}'`).join(', ')})`;

/** The SQL conditions of the filters. A null parameter matches everything. */
const matches = `($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR type = $2)
  AND ($3::text IS NULL OR ${channelOfCondition} = $3)`;

const messageColumns = `id, subscription_id AS "subscriptionId", type, version, condition, callback, conduit_id AS "conduitId",
  session_id AS "sessionId", status, reason, cost,
  floor(extract(epoch FROM created_at) * 1000)::float AS "createdAt",
  floor(extract(epoch FROM updated_at) * 1000)::float AS "updatedAt"`;

/** Lists the service's subscriptions, newest first, with keyset paging. */
@Injectable()
export class SubscriptionListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns one page, and the cursors of the next and previous pages. */
  async list(request: ListSubscriptionsRequest): Promise<ListSubscriptionsReply> {
    const { pageSize, position, status = null, type = null, channelId = null } = request;
    const filters = [status, type, channelId];
    if (filters.some((value) => value !== null && !isStorableText(value)))
      return { subscriptions: [], count: 0, next: null, previous: null };
    const isOlder = position?.direction !== 'newer';
    const [rows, count] = await Promise.all([
      this.readPage(request, { filters, isOlder }),
      this.count(filters),
    ]);

    const subscriptions = rows.slice(0, pageSize);
    const continueAfter = rows.length > pageSize ? (subscriptions.at(-1)?.id ?? null) : null;
    const neighbours = findNeighbours(position, { firstId: subscriptions[0]?.id, continueAfter });
    return { subscriptions: isOlder ? subscriptions : subscriptions.reverse(), count, ...neighbours };
  }

  /** Reads the rows of a page in paging direction, plus one more row if another page follows. */
  private async readPage(
    { pageSize, position }: ListSubscriptionsRequest,
    { filters, isOlder }: { filters: (string | null)[]; isOlder: boolean },
  ): Promise<SubscriptionMessage[]> {
    const beyond = `${isOlder ? '<' : '>'}${(position?.inclusive ?? true) ? '=' : ''}`;
    const rows = await this.dataSource.query<(Omit<SubscriptionMessage, 'transport'> & TransportColumns)[]>(
      `SELECT ${messageColumns} FROM subscriptions WHERE ${matches} AND id ${beyond} $4
       ORDER BY id ${isOlder ? 'DESC' : 'ASC'} LIMIT $5`,
      [...filters, position?.id ?? (isOlder ? highestId : lowestId), pageSize + 1],
    );
    return rows.map(({ callback, conduitId, sessionId, ...row }) => ({
      ...row,
      transport: toTransport({ callback, conduitId, sessionId }),
    }));
  }

  private async count(filters: (string | null)[]): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM subscriptions WHERE ${matches}`,
      filters,
    );
    return row?.count ?? 0;
  }
}

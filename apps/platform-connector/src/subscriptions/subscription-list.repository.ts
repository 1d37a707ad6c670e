import { Injectable } from '@nestjs/common';
import {
  isStorableText,
  type ListPosition,
  type ListSubscriptionsReply,
  type ListSubscriptionsRequest,
  type SubscriptionMessage,
} from '@stream-events/contracts';
import { DataSource } from 'typeorm';

const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const messageColumns = `id, subscription_id AS "subscriptionId", type, version, condition, status, reason, cost,
  floor(extract(epoch FROM created_at) * 1000)::float AS "createdAt",
  floor(extract(epoch FROM updated_at) * 1000)::float AS "updatedAt"`;

/** Lists our subscriptions: pages by keyset, newest first. */
@Injectable()
export class SubscriptionListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, with the positions of its neighbours. */
  async list(request: ListSubscriptionsRequest): Promise<ListSubscriptionsReply> {
    const { pageSize, status = null } = request;
    const position = request.position ?? null;
    if (status !== null && !isStorableText(status))
      return { subscriptions: [], count: 0, next: null, previous: null };
    const isOlder = position?.direction !== 'newer';
    const [rows, count] = await Promise.all([this.readPage(request, isOlder), this.count(status)]);

    const subscriptions = rows.slice(0, pageSize);
    const last = subscriptions.at(-1);
    const ahead: ListPosition | null =
      rows.length > pageSize && last
        ? { direction: isOlder ? 'older' : 'newer', id: last.id, inclusive: false }
        : null;
    const behind = position && turnAround(position, subscriptions[0]);
    return isOlder
      ? { subscriptions, count, next: ahead, previous: behind }
      : { subscriptions: subscriptions.reverse(), count, next: behind, previous: ahead };
  }

  /** The page's rows in the order of travel, and one more when there are more. */
  private readPage(
    { pageSize, position, status }: ListSubscriptionsRequest,
    isOlder: boolean,
  ): Promise<SubscriptionMessage[]> {
    const beyond = `${isOlder ? '<' : '>'}${(position?.inclusive ?? true) ? '=' : ''}`;
    return this.dataSource.query<SubscriptionMessage[]>(
      `SELECT ${messageColumns} FROM subscriptions WHERE id ${beyond} $1 AND ($2::text IS NULL OR status = $2)
       ORDER BY id ${isOlder ? 'DESC' : 'ASC'} LIMIT $3`,
      [position?.id ?? (isOlder ? highestId : lowestId), status ?? null, pageSize + 1],
    );
  }

  private async count(status: string | null): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      'SELECT count(*)::int AS count FROM subscriptions WHERE $1::text IS NULL OR status = $1',
      [status],
    );
    return row?.count ?? 0;
  }
}

/** The position that leads back from a page: before its first row, or where an empty page was asked for. */
function turnAround(position: ListPosition, first: SubscriptionMessage | undefined): ListPosition {
  const direction = position.direction === 'older' ? 'newer' : 'older';
  return first
    ? { direction, id: first.id, inclusive: false }
    : { direction, id: position.id, inclusive: !position.inclusive };
}

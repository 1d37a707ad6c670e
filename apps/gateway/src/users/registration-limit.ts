import { ServiceError } from '@stream-events/contracts';
import type { DataSource, EntityManager } from 'typeorm';
import { networkKeys } from '../http/client-address.js';
import { clockTolerance, giveBackTo, networkBudgets, type TakenBudgets } from './login-budgets.repository.js';

// Enough for a household or an office. The /56 and the /48 network of an IPv6 address can register 4 and 16 times as many users.
const perHour = 10;
const isOver = `(known.updated_at <= now() - interval '1 hour' OR known.updated_at > now() + ${clockTolerance})`;

/**
 * Limits the users that clients without a token register, by address and hour, across all gateways. Uses rows of `login_budgets`: `level`
 * is the number of registrations in the hour that began at `updated_at`.
 */
export class RegistrationLimit {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Counts a registration before the user is created, so that parallel registrations cannot exceed the limit.
   *
   * @throws ServiceError `too_many_requests` until the hour is over
   */
  async take(address: string): Promise<void> {
    const { keys, costs } = budgetsOf(address);
    await this.dataSource.transaction(async (manager) => {
      const rows = await manager.query<unknown[]>(
        `INSERT INTO login_budgets AS known (key, level, updated_at)
         SELECT key, cost, now() FROM unnest($1::bytea[], $2::double precision[]) AS taken (key, cost) ORDER BY key
         ON CONFLICT (key) DO UPDATE SET level = CASE WHEN ${isOver} THEN 0 ELSE known.level END + excluded.level,
           updated_at = CASE WHEN ${isOver} THEN now() ELSE known.updated_at END
         WHERE ${isOver} OR known.level + excluded.level <= ${perHour}
         RETURNING key`,
        [keys, costs],
      );
      // Throw inside the transaction, so that a refused registration takes nothing from the other budgets.
      if (rows.length < keys.length) await this.refuse(manager, { keys, costs });
    });
  }

  /** Uncounts a registration that created no user. */
  async giveBack(address: string): Promise<void> {
    await giveBackTo(this.dataSource, budgetsOf(address));
  }

  private async refuse(
    database: Pick<EntityManager, 'query'>,
    { keys, costs }: TakenBudgets,
  ): Promise<never> {
    const [row] = await database.query<{ seconds: number }[]>(
      `SELECT ceil(extract(epoch FROM max(updated_at) + interval '1 hour' - now()))::int AS seconds
       FROM login_budgets JOIN unnest($1::bytea[], $2::double precision[]) AS taken (key, cost) USING (key)
       WHERE level + cost > ${perHour}`,
      [keys, costs],
    );
    throw new ServiceError(
      'too_many_requests',
      `At most ${perHour} users can register from one address per hour. Retry after the time in \`Retry-After\`, or ask an owner to register the user.`,
      { retryAfterSeconds: Math.max(1, row?.seconds ?? 1) },
    );
  }
}

function budgetsOf(address: string): TakenBudgets {
  return networkBudgets('registration', networkKeys(address));
}

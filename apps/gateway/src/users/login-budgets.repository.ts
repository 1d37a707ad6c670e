import { createHash } from 'node:crypto';
import { ServiceError } from '@stream-events/contracts';
import type { EntityManager } from 'typeorm';

// The first 20 failures cause no wait. After that, one attempt per minute is allowed: 1,440 per day for an address that tries many names,
// and for a name that many addresses try.
const burst = 20;
const secondsPerAttempt = 60;
/**
 * A time that is further than this in the future was stored before the database's clock was set back, and does not count. Concurrent
 * transactions store times that are slightly in the future of each other, because `now()` is the start of the transaction. An SQL
 * expression.
 */
export const clockTolerance = "interval '1 minute'";
const levelNow = `CASE WHEN known.updated_at > now() + ${clockTolerance} THEN 0
  ELSE greatest(known.level - extract(epoch FROM now() - known.updated_at) / ${secondsPerAttempt}, 0) END`;

export interface BudgetOwners {
  address: string;
  usernameHash: Buffer;
}

/** Slows down attackers who vary their address or the user name. Each address and each name has a budget of failed logins. */
export class LoginBudgets {
  constructor(private readonly database: Pick<EntityManager, 'query'>) {}

  /**
   * Takes one attempt from the budget of the address and one from the budget of the user name, before the password is checked. The caller
   * must roll back the transaction if this method throws.
   *
   * @throws ServiceError `too_many_requests` while one of the budgets is used up
   */
  async take(owners: BudgetOwners): Promise<void> {
    const keys = keysOf(owners);
    const rows = await this.database.query<unknown[]>(
      // Write the rows in key order, so that concurrent logins do not deadlock.
      `INSERT INTO login_budgets AS known (key, level, updated_at)
       SELECT key, 1, now() FROM unnest($1::bytea[]) AS key ORDER BY key
       ON CONFLICT (key) DO UPDATE SET level = ${levelNow} + 1, updated_at = now()
       WHERE ${levelNow} <= ${burst - 1}
       RETURNING key`,
      [keys],
    );
    if (rows.length < keys.length) await this.refuse(keys);
  }

  /** Gives the attempt back to each of the two budgets. Call it if the password was right or could not be checked. */
  async giveBack(owners: BudgetOwners): Promise<void> {
    await this.database.query(
      `UPDATE login_budgets SET level = greatest(level - 1, 0)
       WHERE key = ANY(ARRAY(SELECT key FROM login_budgets WHERE key = ANY($1::bytea[]) ORDER BY key FOR UPDATE))`,
      [keysOf(owners)],
    );
  }

  /** Deletes budgets that are full again. */
  async prune(): Promise<void> {
    await this.database.query(
      `DELETE FROM login_budgets WHERE updated_at < now() - interval '${burst * secondsPerAttempt} seconds'`,
    );
  }

  private async refuse(keys: readonly Buffer[]): Promise<never> {
    const [row] = await this.database.query<{ seconds: number }[]>(
      `SELECT ceil(max(${levelNow} - ${burst - 1}) * ${secondsPerAttempt})::int AS seconds
       FROM login_budgets AS known WHERE key = ANY($1::bytea[])`,
      [keys],
    );
    throw new ServiceError(
      'too_many_requests',
      'Too many failed logins from this address or with this user name. Retry after the time in `Retry-After`.',
      { retryAfterSeconds: Math.max(1, row?.seconds ?? 1) },
    );
  }
}

/**
 * The keys of the two budgets: of the address, and of the user name. Both hashes have a prefix: otherwise, the user name
 * `address 192.0.2.1` would share the budget of that address.
 */
function keysOf({ address, usernameHash }: BudgetOwners): Buffer[] {
  const nameKey = createHash('sha256').update('name ').update(usernameHash).digest();
  return [createHash('sha256').update(`address ${address}`).digest(), nameKey];
}

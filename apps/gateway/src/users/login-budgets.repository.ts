import { createHash } from 'node:crypto';
import { ServiceError } from '@stream-events/contracts';
import type { EntityManager } from 'typeorm';

// The first 20 failures cause no wait. After that, one attempt per minute is allowed: 1,440 per day for an address that tries many names,
// and for a name that many addresses try.
const burst = 20;
const secondsPerAttempt = 60;
// A use takes this much from the budget of an address (IPv6: its /64 network), of its /56 network, and of its /48 network. Each network has
// four times the budget of the network that it contains, so one client cannot use up the budget of its neighbors.
const networkCosts = [1, 1 / 4, 1 / 16];
/**
 * A time that is further than this in the future was stored before the database's clock was set back, and does not count. Concurrent
 * transactions store times that are slightly in the future of each other, because `now()` is the start of the transaction. An SQL
 * expression.
 */
export const clockTolerance = "interval '1 minute'";
const levelNow = `CASE WHEN known.updated_at > now() + ${clockTolerance} THEN 0
  ELSE greatest(known.level - extract(epoch FROM now() - known.updated_at) / ${secondsPerAttempt}, 0) END`;

export interface BudgetOwners {
  /** The client's `networkKeys`. */
  networks: readonly string[];
  usernameHash: Buffer;
}

/** What one use takes from each budget. */
export interface TakenBudgets {
  keys: Buffer[];
  costs: number[];
}

/** Slows down attackers who vary their address or the user name. Each network and each name has a budget of failed logins. */
export class LoginBudgets {
  constructor(private readonly database: Pick<EntityManager, 'query'>) {}

  /**
   * Takes an attempt from the budgets of the address's networks and one from the budget of the user name, before the password is checked.
   * The caller must roll back the transaction if this method throws.
   *
   * @throws ServiceError `too_many_requests` while one of the budgets is used up
   */
  async take(owners: BudgetOwners): Promise<void> {
    const { keys, costs } = budgetsOf(owners);
    const rows = await this.database.query<unknown[]>(
      // Write the rows in key order, so that concurrent logins do not deadlock.
      `INSERT INTO login_budgets AS known (key, level, updated_at)
       SELECT key, cost, now() FROM unnest($1::bytea[], $2::double precision[]) AS taken (key, cost) ORDER BY key
       ON CONFLICT (key) DO UPDATE SET level = ${levelNow} + excluded.level, updated_at = now()
       WHERE ${levelNow} + excluded.level <= ${burst}
       RETURNING key`,
      [keys, costs],
    );
    if (rows.length < keys.length) await this.refuse(owners);
  }

  /** Gives the attempt back to each of the budgets. Call it if the password was right or could not be checked. */
  async giveBack(owners: BudgetOwners): Promise<void> {
    await giveBackTo(this.database, budgetsOf(owners));
  }

  /** Deletes budgets that are full again: those of failed logins after 20 minutes, and those of `RegistrationLimit` after an hour. */
  async prune(): Promise<void> {
    await this.database.query(`DELETE FROM login_budgets WHERE updated_at < now() - interval '1 hour'`);
  }

  private async refuse(owners: BudgetOwners): Promise<never> {
    const { keys, costs } = budgetsOf(owners);
    const [row] = await this.database.query<{ seconds: number }[]>(
      `SELECT ceil(max(${levelNow} + cost - ${burst}) * ${secondsPerAttempt})::int AS seconds
       FROM login_budgets AS known JOIN unnest($1::bytea[], $2::double precision[]) AS taken (key, cost) USING (key)`,
      [keys, costs],
    );
    throw new ServiceError(
      'too_many_requests',
      'Too many failed logins from this address or with this user name. Retry after the time in `Retry-After`.',
      { retryAfterSeconds: Math.max(1, row?.seconds ?? 1) },
    );
  }
}

/** Gives one use back to each budget. */
export async function giveBackTo(
  database: Pick<EntityManager, 'query'>,
  { keys, costs }: TakenBudgets,
): Promise<void> {
  await database.query(
    `UPDATE login_budgets SET level = greatest(level - cost, 0)
     FROM (SELECT key, cost FROM login_budgets JOIN unnest($1::bytea[], $2::double precision[]) AS taken (key, cost) USING (key)
           ORDER BY key FOR UPDATE OF login_budgets) AS locked
     WHERE login_budgets.key = locked.key`,
    [keys, costs],
  );
}

/** The keys of the budgets of the networks and of the user name, and what an attempt takes from each. */
function budgetsOf({ networks, usernameHash }: BudgetOwners): TakenBudgets {
  const { keys, costs } = networkBudgets('address', networks);
  const nameKey = createHash('sha256').update('name ').update(usernameHash).digest();
  return { keys: [...keys, nameKey], costs: [...costs, 1] };
}

/**
 * The keys of the budgets of a client's networks (`networkKeys`), and what one use takes from each. Keys of different purposes differ:
 * otherwise, the user name `address 192.0.2.1` would share the budget of that address.
 */
export function networkBudgets(purpose: string, networks: readonly string[]): TakenBudgets {
  return {
    keys: networks.map((network) => createHash('sha256').update(`${purpose} ${network}`).digest()),
    costs: networkCosts.slice(0, networks.length),
  };
}

import { ServiceError } from '@stream-events/contracts';
import type { EntityManager } from 'typeorm';
import { clockTolerance } from './login-budgets.repository.js';

// The first four failures cause no wait. The fifth causes a wait of 1 s, and each later one doubles the wait, up to 15 min. The count
// expires an hour after the last failure. The exponent is capped, because a large power is out of range.
const waitSeconds = 'least(power(2, least(greatest(failures - 5, 0), 10)), 900)';
const isBlocked = `failures >= 5 AND last_failed_at < now() + ${clockTolerance} AND now() < last_failed_at + ${waitSeconds} * interval '1 second'`;
const isExpired = `last_failed_at < now() - interval '1 hour'`;

/** Slows down a client that guesses one user's password. Counts failed logins by address and user name, across all gateways. */
export class LoginFailures {
  constructor(private readonly database: Pick<EntityManager, 'query'>) {}

  /**
   * Counts an attempt as failed before the password is checked, so that parallel attempts cannot bypass the limit.
   *
   * @throws ServiceError `too_many_requests` while the address must wait before it can try this user name again
   */
  async countAttempt(address: string, usernameHash: Buffer): Promise<void> {
    const rows = await this.database.query<unknown[]>(
      `INSERT INTO login_failures AS known (address, username_hash, failures, last_failed_at) VALUES ($1, $2, 1, now())
       ON CONFLICT (address, username_hash) DO UPDATE
       SET failures = CASE WHEN known.${isExpired} THEN 1 ELSE known.failures + 1 END, last_failed_at = now()
       WHERE NOT (${isBlocked.replace(/failures|last_failed_at/g, 'known.$&')})
       RETURNING failures`,
      [address, usernameHash],
    );
    if (rows.length === 0) await this.refuse(address, usernameHash);
  }

  /** Uncounts an attempt whose password could not be checked. */
  async takeBack(address: string, usernameHash: Buffer): Promise<void> {
    await this.database.query(
      'UPDATE login_failures SET failures = failures - 1 WHERE address = $1 AND username_hash = $2',
      [address, usernameHash],
    );
  }

  /** Call it after a successful login. */
  async forget(address: string, usernameHash: Buffer): Promise<void> {
    await this.database.query('DELETE FROM login_failures WHERE address = $1 AND username_hash = $2', [
      address,
      usernameHash,
    ]);
  }

  async prune(): Promise<void> {
    await this.database.query(`DELETE FROM login_failures WHERE ${isExpired}`);
  }

  private async refuse(address: string, usernameHash: Buffer): Promise<never> {
    const [row] = await this.database.query<{ seconds: number }[]>(
      `SELECT ceil(extract(epoch FROM last_failed_at + ${waitSeconds} * interval '1 second' - now()))::int AS seconds
       FROM login_failures WHERE address = $1 AND username_hash = $2`,
      [address, usernameHash],
    );
    throw new ServiceError(
      'too_many_requests',
      'Too many failed logins with this user name from this address. Retry after the time in `Retry-After`.',
      {
        retryAfterSeconds: Math.max(1, row?.seconds ?? 1),
      },
    );
  }
}

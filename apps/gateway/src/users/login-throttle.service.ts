import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { addressKey } from '../http/client-address.js';
import { LoginBudgets } from './login-budgets.repository.js';
import { hashUsername, LoginFailures } from './login-failures.repository.js';

// An address stays known for this long after a successful login. Most users log in again within this time, and longer storage would harm
// their privacy.
const rememberedFor = "interval '90 days'";

/** A login attempt that was counted as failed in advance. */
export interface LoginAttempt {
  /** The client's `addressKey`. */
  address: string;
  username: string;
  /** Whether this user has logged in from this address before. */
  isKnown: boolean;
}

/**
 * Slows down password guessing across all gateways. Counts failed logins:
 *
 * - per address and user name: slows down a client that guesses one user's password
 * - per address: slows down a client that tries many names
 * - per user name: slows down many clients that guess one user's password
 *
 * The second and third counts do not apply at an address from which the user has logged in before. An attacker elsewhere therefore cannot
 * lock the user out.
 */
@Injectable()
export class LoginThrottle {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Counts an attempt as failed before the password is checked, so that parallel attempts cannot bypass the limits.
   *
   * @throws ServiceError `too_many_requests` while the client must wait. A refused attempt does not count.
   */
  async begin(clientAddress: string, username: string): Promise<LoginAttempt> {
    const address = addressKey(clientAddress);
    const usernameHash = hashUsername(username);
    return this.dataSource.transaction(async (manager) => {
      const known = await manager.query<unknown[]>(
        'SELECT FROM known_logins WHERE address = $1 AND username_hash = $2',
        [address, usernameHash],
      );
      const isKnown = known.length > 0;
      await new LoginFailures(manager).countAttempt(address, username);
      if (!isKnown) await new LoginBudgets(manager).take({ address, usernameHash });
      return { address, username, isKnown };
    });
  }

  /** Uncounts an attempt whose password could not be checked. */
  async cancel({ address, username, isKnown }: LoginAttempt): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await new LoginFailures(manager).takeBack(address, username);
      if (!isKnown)
        await new LoginBudgets(manager).giveBack({ address, usernameHash: hashUsername(username) });
    });
  }

  /** After a successful login, uncounts the attempt, deletes the failures of this address and user name, and remembers the address. */
  async succeed({ address, username, isKnown }: LoginAttempt): Promise<void> {
    const usernameHash = hashUsername(username);
    await this.dataSource.transaction(async (manager) => {
      await new LoginFailures(manager).forget(address, username);
      if (!isKnown) await new LoginBudgets(manager).giveBack({ address, usernameHash });
      await manager.query(
        `INSERT INTO known_logins (address, username_hash, last_at) VALUES ($1, $2, now())
         ON CONFLICT (address, username_hash) DO UPDATE SET last_at = now()`,
        [address, usernameHash],
      );
    });
  }

  /** Deletes expired failures, full budgets, and old addresses. */
  async prune(): Promise<void> {
    await new LoginFailures(this.dataSource).prune();
    await new LoginBudgets(this.dataSource).prune();
    await this.dataSource.query(`DELETE FROM known_logins WHERE last_at < now() - ${rememberedFor}`);
  }
}

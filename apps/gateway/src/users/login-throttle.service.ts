import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import { DataSource } from 'typeorm';
import type { GatewayConfig } from '../gateway.config.js';
import { addressKey, networkKeys } from '../http/client-address.js';
import { LoginBudgets } from './login-budgets.repository.js';
import { LoginFailures } from './login-failures.repository.js';
import { UsernameHasher } from './username-hasher.js';

// An address stays known for this long after a successful login. Most users log in again within this time, and longer storage would harm
// their privacy.
const rememberedFor = "interval '90 days'";

/** A login attempt. `begin` counts it as failed in advance. */
export interface LoginAttempt {
  /** The client's `addressKey`. */
  address: string;
  /** The client's `networkKeys`. */
  networks: readonly string[];
  usernameHash: Buffer;
  /** Whether this user has logged in from this address before. */
  isKnown: boolean;
}

/** The attempts that the next look-up answers. */
interface LookUp {
  addresses: string[];
  hashes: Buffer[];
  /** The known pairs among them, as `pairKey` prints them. */
  known: Promise<ReadonlySet<string>>;
}

/**
 * Slows down password guessing across all gateways. Counts failed logins:
 *
 * - per address and user name: slows down a client that guesses one user's password
 * - per address, and per IPv6 /56 and /48 network: slows down a client that tries many names
 * - per user name: slows down many clients that guess one user's password
 *
 * The second and third counts do not apply at an address from which the user has logged in before. An attacker elsewhere therefore cannot
 * lock the user out.
 */
@Injectable()
export class LoginThrottle {
  private readonly hasher: UsernameHasher;
  private next: LookUp | undefined;
  private lastLookUp: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    @Inject(CONFIG) config: Pick<GatewayConfig, 'SECRET_KEY'>,
  ) {
    this.hasher = new UsernameHasher(config.SECRET_KEY);
  }

  /** Finds out whether the user has logged in from this address before. Counts nothing. */
  async identify(clientAddress: string, username: string): Promise<LoginAttempt> {
    const address = addressKey(clientAddress);
    const usernameHash = this.hasher.hash(username);
    const lookUp = (this.next ??= this.scheduleLookUp());
    lookUp.addresses.push(address);
    lookUp.hashes.push(usernameHash);
    const known = await lookUp.known;
    const isKnown = known.has(pairKey(address, usernameHash));
    return { address, networks: networkKeys(clientAddress), usernameHash, isKnown };
  }

  /**
   * Counts an attempt as failed before the password is checked, so that parallel attempts cannot bypass the limits.
   *
   * @throws ServiceError `too_many_requests` while the client must wait. A refused attempt does not count.
   */
  async begin(attempt: LoginAttempt): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await new LoginFailures(manager).countAttempt(attempt.address, attempt.usernameHash);
      if (!attempt.isKnown) await new LoginBudgets(manager).take(attempt);
    });
  }

  /** Uncounts an attempt whose password could not be checked. */
  async cancel(attempt: LoginAttempt): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await new LoginFailures(manager).takeBack(attempt.address, attempt.usernameHash);
      if (!attempt.isKnown) await new LoginBudgets(manager).giveBack(attempt);
    });
  }

  /** After a successful login, uncounts the attempt, deletes the failures of this address and user name, and remembers the address. */
  async succeed(attempt: LoginAttempt): Promise<void> {
    const { address, usernameHash, isKnown } = attempt;
    await this.dataSource.transaction(async (manager) => {
      await new LoginFailures(manager).forget(address, usernameHash);
      if (!isKnown) await new LoginBudgets(manager).giveBack(attempt);
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

  /** Runs one look-up at a time, for all attempts that have arrived meanwhile. A flood of logins therefore uses only one connection. */
  private scheduleLookUp(): LookUp {
    const addresses: string[] = [];
    const hashes: Buffer[] = [];
    const known = this.lastLookUp.then(() => {
      this.next = undefined;
      return this.findKnown(addresses, hashes);
    });
    // The attempts report a failure. The next look-up only waits for the end of this one.
    this.lastLookUp = known.catch(() => undefined);
    return { addresses, hashes, known };
  }

  private async findKnown(
    addresses: readonly string[],
    hashes: readonly Buffer[],
  ): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ address: string; hash: Buffer }[]>(
      `SELECT address, username_hash AS hash FROM known_logins
       WHERE (address, username_hash) IN (SELECT * FROM unnest($1::text[], $2::bytea[]))`,
      [addresses, hashes],
    );
    return new Set(rows.map(({ address, hash }) => pairKey(address, hash)));
  }
}

function pairKey(address: string, usernameHash: Buffer): string {
  return `${address} ${usernameHash.toString('hex')}`;
}

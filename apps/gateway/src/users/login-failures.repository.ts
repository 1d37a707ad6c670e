import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { toUsernameKey } from './user.entity.js';

// Five mistakes are free; from then on each doubles the wait, from 1 s up to 15 min. An hour later all is forgotten.
const waitSeconds = 'least(power(2, greatest(failures - 5, 0)), 900)';
const isBlocked = `failures >= 5 AND last_failed_at + ${waitSeconds} * interval '1 second' > now()`;
const isForgotten = `last_failed_at < now() - interval '1 hour'`;

// No address is longer (IPv6 with a zone); what a proxy hands on may be, and the key's index takes 2.7 kB at most.
const maxAddressLength = 64;

/** Slows down guessing: counts failed logins by the pair of address and user name, for all gateways together. */
@Injectable()
export class LoginFailures {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Counts an attempt as failed before it is checked, so that many at once cannot all slip through.
   *
   * @throws ServiceError `too_many_requests` while the pair has to wait
   */
  async countAttempt(address: string, username: string): Promise<void> {
    const rows = await this.dataSource.query<unknown[]>(
      `INSERT INTO login_failures AS known (address, username_hash, failures, last_failed_at) VALUES ($1, $2, 1, now())
       ON CONFLICT (address, username_hash) DO UPDATE
       SET failures = CASE WHEN known.${isForgotten} THEN 1 ELSE known.failures + 1 END, last_failed_at = now()
       WHERE NOT (${isBlocked.replace(/failures|last_failed_at/g, 'known.$&')})
       RETURNING failures`,
      keyOf(address, username),
    );
    if (rows.length === 0) await this.refuse(address, username);
  }

  /** Takes back an attempt that was counted, but not checked after all. */
  async takeBack(address: string, username: string): Promise<void> {
    await this.dataSource.query(
      'UPDATE login_failures SET failures = failures - 1 WHERE address = $1 AND username_hash = $2',
      keyOf(address, username),
    );
  }

  /** Forgets the pair's failures after a login that worked. */
  async forget(address: string, username: string): Promise<void> {
    await this.dataSource.query(
      'DELETE FROM login_failures WHERE address = $1 AND username_hash = $2',
      keyOf(address, username),
    );
  }

  /** Deletes what is forgotten anyway. */
  async prune(): Promise<void> {
    await this.dataSource.query(`DELETE FROM login_failures WHERE ${isForgotten}`);
  }

  private async refuse(address: string, username: string): Promise<never> {
    const [row] = await this.dataSource.query<{ seconds: number }[]>(
      `SELECT ceil(extract(epoch FROM last_failed_at + ${waitSeconds} * interval '1 second' - now()))::int AS seconds
       FROM login_failures WHERE address = $1 AND username_hash = $2`,
      keyOf(address, username),
    );
    throw new ServiceError(
      'too_many_requests',
      'Too many failed logins with this user name from this address. Wait, then try again.',
      {
        retryAfterSeconds: Math.max(1, row?.seconds ?? 1),
      },
    );
  }
}

/** The pair as the table has it; spellings of a name that log the same user in are one. */
function keyOf(address: string, username: string): [address: string, usernameHash: Buffer] {
  const usernameHash = createHash('sha256').update(toUsernameKey(username)).digest();
  return [address.slice(0, maxAddressLength), usernameHash];
}

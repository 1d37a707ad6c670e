import { Injectable } from '@nestjs/common';
import { LeaseColumns } from '@stream-events/database';
import type { TransportMethod } from '@stream-events/platforms';
import { DataSource } from 'typeorm';
import { verificationPending } from './own-subscription.js';

/** A claimed round, with the results of earlier rounds. */
export interface ReconciliationClaim {
  holder: string;
  /** Milliseconds since 1970, by the database's clock. */
  now: number;
  isListingDue: boolean;
  /** Null until the platform has reported its limit. */
  maxCost: number | null;
  foreignCost: number;
}

/** The result of a round: when the next round and the next listing are due. */
export interface RoundEnd {
  dueInMs: number;
  /** The minimum time until the next listing, even if something requests a listing earlier; 0 means no minimum. */
  listingNotBeforeMs: number;
  /** The maximum time until the next listing; undefined keeps the schedule. */
  listingInMs?: number;
  /** The minimum time between listings while subscriptions wait for verification. */
  minListingPauseMs: number;
  isComplete: boolean;
}

/** The results of a listing. */
export interface ListedCosts {
  maxCost: number;
  foreignCost: number;
}

/** The transport, the public URL, and the secrets that the instance that started last has declared. */
export interface DeclaredTransports {
  /** The wanted method; null until an instance has started whose version supports several transports. */
  method: TransportMethod | null;
  /** The last declared public URL, which subscriptions may still use after the transport has changed. */
  publicUrl: string | null;
  /** The fingerprints of the webhook secrets. */
  fingerprints: readonly string[];
  /** The fingerprint of the secret that signs messages to the plain callback of older versions; empty when the secret is unknown. */
  plainFingerprint: string;
}

type NewDeclaration = Pick<DeclaredTransports, 'publicUrl'> & {
  method: TransportMethod;
  fingerprints: readonly string[];
};

interface DeclaredRow extends Pick<DeclaredTransports, 'method' | 'publicUrl'> {
  fingerprints: string | null;
  plainFingerprint: string | null;
}

/** The results of the last rounds, for the status. */
export interface ReconciliationFacts {
  maxCost: number | null;
  foreignCost: number;
  monitored: number;
  /** When a round last ended with nothing left to do, in milliseconds since 1970. */
  completedAt: number | null;
}

/** The lease on the round in progress. Without a holder, no round is in progress. */
export const roundLease = new LeaseColumns({ holder: 'holder', until: 'held_until' }, 10);
const roundIntervalSeconds = 60;
// How often to list the platform's subscriptions. An alarm must follow within 90 s after the platform ends a subscription, even if no
// message about the end arrives. One call lists 100 subscriptions, so 2,000 subscriptions take 20 calls per minute, 2.5 % of the rate
// limit. With more subscriptions, listings are less frequent.
const listingSeconds = { min: 60, max: 300, perSubscription: 60 / 2_000 };
// A listing that is due later than this is due now, because the database's clock was set back. Twice the maximum above.
const maxListingMinutes = 10;

/**
 * Schedules rounds. Stores when the next round is due, who holds the lease, and the results of rounds in one row that all instances
 * share.
 */
@Injectable()
export class ReconciliationSchedule {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Claims the round that is due; undefined when no round is due or another instance holds the lease. After the holder has died, the next
   * round lists the platform's subscriptions, because the dead holder may not have saved the results of its last calls.
   *
   * @param waitMs the minimum time for which the round must have been due
   */
  async claim(holder: string, waitMs = 0): Promise<ReconciliationClaim | undefined> {
    const rows = await this.dataSource.query<ReconciliationClaim[]>(
      `WITH claimed AS (
         UPDATE reconciliation SET ${roundLease.take('$1')}, due_at = now() + make_interval(secs => $2::float),
           listing_due_at = CASE WHEN holder IS NULL AND listing_due_at <= now() + interval '${maxListingMinutes} minutes'
                                 THEN listing_due_at ELSE now() END
         WHERE (holder IS NULL AND LEAST(due_at, listing_due_at) <= now() - make_interval(secs => $3::float / 1000))
            -- Due too far in the future: the clock was set back.
            OR (holder IS NULL AND due_at > now() + make_interval(secs => $2::float + 1))
            OR ${roundLease.isExpired}
         RETURNING listing_due_at, max_cost, foreign_cost
       )
       SELECT $1::uuid AS holder, floor(extract(epoch FROM now()) * 1000)::float AS now,
              (listing_due_at <= now() OR max_cost IS NULL) AS "isListingDue",
              max_cost AS "maxCost", foreign_cost AS "foreignCost" FROM claimed`,
      [holder, roundIntervalSeconds, waitMs],
    );
    return rows[0];
  }

  /** Renews the lease. Returns false when another instance has taken over. */
  async renew(holder: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `WITH renewed AS (
         UPDATE reconciliation SET ${roundLease.renewal} WHERE ${roundLease.isHeldBy('$1')} RETURNING id
       ) SELECT id FROM renewed`,
      [holder],
    );
    return rows.length > 0;
  }

  /** Saves the results of a listing. The next listing is due in a minute, or up to 5 min when there are thousands of subscriptions. */
  async saveListing(holder: string, { maxCost, foreignCost }: ListedCosts): Promise<void> {
    const { min, max, perSubscription } = listingSeconds;
    await this.dataSource.query(
      `UPDATE reconciliation SET max_cost = $2, foreign_cost = $3, listing_due_at = now() + make_interval(secs =>
         (SELECT LEAST(GREATEST($4::float, count(*) * $5::float), $6::float) FROM subscriptions WHERE subscription_id IS NOT NULL))
       WHERE ${roundLease.isHeldBy('$1')}`,
      [holder, maxCost, foreignCost, min, perSubscription, max],
    );
  }

  /** Saves the number of monitored streamers. */
  async saveMonitored(holder: string, monitored: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE reconciliation SET monitored = $2 WHERE ${roundLease.isHeldBy('$1')} AND monitored <> $2`,
      [holder, monitored],
    );
  }

  /**
   * Ends the round and schedules the next round. If a round was requested in the meantime, it stays due. While subscriptions wait for
   * verification, listings repeat at growing intervals.
   */
  async release(holder: string, end: RoundEnd): Promise<void> {
    await this.dataSource.query(
      `UPDATE reconciliation SET holder = NULL, held_until = NULL,
         due_at = LEAST(due_at, now() + make_interval(secs => $2::float / 1000)),
         listing_due_at = GREATEST(now() + make_interval(secs => $3::float / 1000), LEAST(
           listing_due_at,
           now() + make_interval(secs => $4::float / 1000),
           (SELECT now() + GREATEST(make_interval(secs => $5::float / 1000), now() - max(status_since))
            FROM subscriptions WHERE status = $6 HAVING max(status_since) IS NOT NULL)
         )),
         completed_at = CASE WHEN $7::boolean THEN now() ELSE completed_at END
       WHERE ${roundLease.isHeldBy('$1')}`,
      [
        holder,
        end.dueInMs,
        end.listingNotBeforeMs,
        end.listingInMs ?? null,
        end.minListingPauseMs,
        verificationPending,
        end.isComplete,
      ],
    );
  }

  /** Makes a round due immediately. Costs almost nothing when a round is already due. */
  async hint(): Promise<void> {
    await this.dataSource.query('UPDATE reconciliation SET due_at = now() WHERE due_at > now()');
  }

  /** Makes a round with a listing due immediately. Used at startup, because anything may have changed while no instance was running. */
  async requestListing(): Promise<void> {
    await this.dataSource.query(
      'UPDATE reconciliation SET due_at = LEAST(due_at, now()), listing_due_at = LEAST(listing_due_at, now())',
    );
  }

  /**
   * Declares the transport and the fingerprints of the webhook secrets. The last declaration applies, because the instance that started
   * last has the newest configuration. The first declaration with a secret also records the secret of the plain callback, which older
   * versions used for all secrets: the configured secret if there is only one, otherwise unknown.
   */
  async declareTransports({ method, publicUrl, fingerprints }: NewDeclaration): Promise<void> {
    const [only = null, ...others] = fingerprints;
    await this.dataSource.query(
      `UPDATE reconciliation SET transport = $1, public_url = coalesce($2, public_url), webhook_fingerprints = $3,
         plain_fingerprint = coalesce(plain_fingerprint, $4)`,
      [method, publicUrl, fingerprints.join(','), others.length === 0 ? only : ''],
    );
  }

  /** Returns the last declaration. */
  async readTransports(): Promise<DeclaredTransports> {
    const [row] = await this.dataSource.query<DeclaredRow[]>(
      `SELECT transport AS method, public_url AS "publicUrl", webhook_fingerprints AS fingerprints,
              plain_fingerprint AS "plainFingerprint" FROM reconciliation`,
    );
    return {
      method: row?.method ?? null,
      publicUrl: row?.publicUrl ?? null,
      fingerprints: row?.fingerprints?.split(',').filter((fingerprint) => fingerprint !== '') ?? [],
      plainFingerprint: row?.plainFingerprint ?? '',
    };
  }

  async read(): Promise<ReconciliationFacts> {
    const [facts] = await this.dataSource.query<ReconciliationFacts[]>(
      `SELECT max_cost AS "maxCost", foreign_cost AS "foreignCost", monitored,
              floor(extract(epoch FROM completed_at) * 1000)::float AS "completedAt" FROM reconciliation`,
    );
    return facts ?? { maxCost: null, foreignCost: 0, monitored: 0, completedAt: null };
  }
}

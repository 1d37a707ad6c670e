import { Injectable } from '@nestjs/common';
import { LeaseColumns } from '@stream-events/database';
import type { TransportMethod } from '@stream-events/platforms';
import { DataSource } from 'typeorm';
import { notGranted, verificationPending } from './own-subscription.js';

/** A claimed round, with what earlier rounds found out. */
export interface ReconciliationClaim {
  holder: string;
  /** The database's time, in milliseconds since 1970. */
  now: number;
  isListingDue: boolean;
  /** Null until the platform has reported its limit. */
  maxCost: number | null;
  foreignCost: number;
}

/** When the next round and the next listing are due. */
export interface RoundEnd {
  dueInMs: number;
  /** How long to wait for the next listing, even if something requests one earlier; 0 means no wait. */
  listingNotBeforeMs: number;
  /** The next listing is due after this time at the latest. Undefined keeps the schedule. */
  listingInMs?: number;
  /** The shortest time between listings while subscriptions wait for verification. */
  minListingPauseMs: number;
  isComplete: boolean;
}

export interface ListedCosts {
  maxCost: number;
  foreignCost: number;
}

/** What the last instance to start has declared: its transport, public URL, and secrets. */
export interface DeclaredTransports {
  /** The wanted method. Null until an instance with a transport has started. */
  method: TransportMethod | null;
  /** The public URL that was declared last. Subscriptions may still use it after the transport has changed. */
  publicUrl: string | null;
  fingerprints: readonly string[];
}

type NewDeclaration = DeclaredTransports & { method: TransportMethod };

interface DeclaredRow extends Pick<DeclaredTransports, 'method' | 'publicUrl'> {
  fingerprints: string | null;
}

/** What the last rounds found out, for the status. */
export interface ReconciliationFacts {
  maxCost: number | null;
  foreignCost: number;
  monitored: number;
  /** When a round last ended with nothing left to do, in milliseconds since 1970. */
  completedAt: number | null;
}

/** The lease on the current round. It has a holder only while a round is in progress. */
export const roundLease = new LeaseColumns({ holder: 'holder', until: 'held_until' }, 10);
const roundIntervalSeconds = 60;
// How often to list the platform's subscriptions. An alarm must follow within 90 s after the platform ends a subscription, even if no
// message reports the end. One call lists 100 subscriptions, so 2,000 of them take 20 calls per minute, 2.5 % of the rate limit. More
// subscriptions are listed less often.
const listingSeconds = { min: 60, max: 300, perSubscription: 60 / 2_000 };
// A listing that is due later than this counts as due now: the database's clock was set back. Twice the maximum above.
const maxListingMinutes = 10;

/** Schedules rounds. All instances share one row, which holds the time of the next round, the lease, and the results of earlier rounds. */
@Injectable()
export class ReconciliationSchedule {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Claims the round that is due. Returns undefined when none is due or another instance holds the lease. If the previous holder died, the
   * round lists the platform's subscriptions, because the results of that holder's last calls may be lost.
   *
   * @param waitMs how long the round must have been due
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

  /** Saves the results of a listing. The next listing is due in a minute, or in up to 5 min when there are thousands of subscriptions. */
  async saveListing(holder: string, { maxCost, foreignCost }: ListedCosts): Promise<void> {
    const { min, max, perSubscription } = listingSeconds;
    await this.dataSource.query(
      `UPDATE reconciliation SET max_cost = $2, foreign_cost = $3, listing_due_at = now() + make_interval(secs =>
         (SELECT LEAST(GREATEST($4::float, count(*) * $5::float), $6::float) FROM subscriptions WHERE subscription_id IS NOT NULL))
       WHERE ${roundLease.isHeldBy('$1')}`,
      [holder, maxCost, foreignCost, min, perSubscription, max],
    );
  }

  async saveMonitored(holder: string, monitored: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE reconciliation SET monitored = $2 WHERE ${roundLease.isHeldBy('$1')} AND monitored <> $2`,
      [holder, monitored],
    );
  }

  /**
   * Ends the round, and schedules the next one. A round that was requested in the meantime stays due. While subscriptions wait for
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

  /** Makes a round due now. Costs almost nothing when one is already due. */
  async hint(): Promise<void> {
    await this.dataSource.query('UPDATE reconciliation SET due_at = now() WHERE due_at > now()');
  }

  /**
   * Makes a round with a listing due now, and ends the pauses after failures. For a start, because anything may have changed while no
   * instance was running, and for a new conduit. Denials stay, because only consent ends them.
   */
  async startOver(): Promise<void> {
    await this.dataSource.query(
      'UPDATE subscriptions SET attempts = 0, retry_at = NULL WHERE status <> $1 AND (attempts > 0 OR retry_at IS NOT NULL)',
      [notGranted],
    );
    await this.requestListing();
  }

  /** Makes a round with a listing due now. */
  async requestListing(): Promise<void> {
    await this.dataSource.query(
      'UPDATE reconciliation SET due_at = LEAST(due_at, now()), listing_due_at = LEAST(listing_due_at, now())',
    );
  }

  /**
   * Declares the transport and the fingerprints of the webhook secrets. The last declaration wins, because the last instance to start has
   * the newest configuration.
   */
  async declareTransports({ method, publicUrl, fingerprints }: NewDeclaration): Promise<void> {
    await this.dataSource.query(
      'UPDATE reconciliation SET transport = $1, public_url = coalesce($2, public_url), webhook_fingerprints = $3',
      [method, publicUrl, fingerprints.join(',')],
    );
  }

  async readTransports(): Promise<DeclaredTransports> {
    const [row] = await this.dataSource.query<DeclaredRow[]>(
      'SELECT transport AS method, public_url AS "publicUrl", webhook_fingerprints AS fingerprints FROM reconciliation',
    );
    return {
      method: row?.method ?? null,
      publicUrl: row?.publicUrl ?? null,
      fingerprints: row?.fingerprints?.split(',').filter((fingerprint) => fingerprint !== '') ?? [],
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

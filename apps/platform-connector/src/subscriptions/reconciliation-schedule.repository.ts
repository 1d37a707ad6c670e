import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { verificationPending } from './own-subscription.js';

/** A round that this instance may do, and what the one before has learnt. */
export interface Claim {
  holder: string;
  /** Milliseconds since 1970, by the database's clock. */
  now: number;
  isListingDue: boolean;
  /** Null until the platform has said it. */
  maxCost: number | null;
  foreignCost: number;
}

/** When the next round shall be, and what this one has learnt. */
export interface RoundEnd {
  dueInMs: number;
  /** Not before that, also when hints come or a listing is due; 0: whenever. */
  listingNotBeforeMs: number;
  /** So soon at the latest; undefined: as it was. */
  listingInMs?: number;
  /** The least time between listings while subscriptions wait to be verified. */
  minListingPauseMs: number;
  isComplete: boolean;
}

/** What the last listing said. */
export interface ListedCosts {
  maxCost: number;
  foreignCost: number;
}

/** What the status tells of the last rounds. */
export interface ReconciliationFacts {
  maxCost: number | null;
  foreignCost: number;
  monitored: number;
  /** When a round last had nothing left to do, in milliseconds since 1970. */
  completedAt: number | null;
}

/** A holder that has not renewed its lease for so long is dead: another instance goes on. */
export const leaseSeconds = 10;
const roundIntervalSeconds = 60;
const listingIntervalSeconds = 300;

/** Whose turn it is to reconcile, when, and what was learnt: one row that all instances share. */
@Injectable()
export class ReconciliationSchedule {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Takes the round that is due, if one is and nobody else is at it. Whoever takes it from a dead holder lists anew: what that one
   * did last may not be written down.
   */
  async claim(holder: string): Promise<Claim | undefined> {
    const rows = await this.dataSource.query<Claim[]>(
      `WITH claimed AS (
         UPDATE reconciliation SET holder = $1::uuid, held_until = now() + make_interval(secs => $2::float),
           due_at = now() + make_interval(secs => $3::float),
           listing_due_at = CASE WHEN holder IS NULL THEN listing_due_at ELSE now() END
         WHERE (holder IS NULL AND (due_at <= now() OR listing_due_at <= now()))
            -- Or from before the clock was set back.
            OR (holder IS NULL AND due_at > now() + make_interval(secs => $3::float + 1))
            OR held_until <= now() OR held_until > now() + make_interval(secs => $2::float + 1)
         RETURNING listing_due_at, max_cost, foreign_cost
       )
       SELECT $1::uuid AS holder, floor(extract(epoch FROM now()) * 1000)::float AS now,
              (listing_due_at <= now() OR max_cost IS NULL) AS "isListingDue",
              max_cost AS "maxCost", foreign_cost AS "foreignCost" FROM claimed`,
      [holder, leaseSeconds, roundIntervalSeconds],
    );
    return rows[0];
  }

  /** Keeps the round; false when it is somebody else's by now. */
  async renew(holder: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `WITH renewed AS (
         UPDATE reconciliation SET held_until = now() + make_interval(secs => $2::float) WHERE holder = $1 RETURNING id
       ) SELECT id FROM renewed`,
      [holder, leaseSeconds],
    );
    return rows.length > 0;
  }

  /** Notes what a listing said; the next is in five minutes. */
  async noteListing(holder: string, { maxCost, foreignCost }: ListedCosts): Promise<void> {
    await this.dataSource.query(
      `UPDATE reconciliation SET max_cost = $2, foreign_cost = $3, listing_due_at = now() + make_interval(secs => $4::float)
       WHERE holder = $1`,
      [holder, maxCost, foreignCost, listingIntervalSeconds],
    );
  }

  /** Notes how many streamers are monitored. */
  async noteMonitored(holder: string, monitored: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE reconciliation SET monitored = $2 WHERE holder = $1 AND monitored <> $2',
      [holder, monitored],
    );
  }

  /**
   * Ends the round; a hint that came meanwhile stays due. While subscriptions wait to be verified, the platform is listed again and
   * again, less often the longer it takes.
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
       WHERE holder = $1`,
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

  /** A round is due at once, whoever does it; while one is due already this costs next to nothing. */
  async hint(): Promise<void> {
    await this.dataSource.query('UPDATE reconciliation SET due_at = now() WHERE due_at > now()');
  }

  /** The next round lists what the platform has: for a start, before which anything may have happened. */
  async requestListing(): Promise<void> {
    await this.dataSource.query(
      'UPDATE reconciliation SET due_at = LEAST(due_at, now()), listing_due_at = LEAST(listing_due_at, now())',
    );
  }

  async read(): Promise<ReconciliationFacts> {
    const [facts] = await this.dataSource.query<ReconciliationFacts[]>(
      `SELECT max_cost AS "maxCost", foreign_cost AS "foreignCost", monitored,
              floor(extract(epoch FROM completed_at) * 1000)::float AS "completedAt" FROM reconciliation`,
    );
    return facts ?? { maxCost: null, foreignCost: 0, monitored: 0, completedAt: null };
  }
}

import type pg from 'pg';

/** An erasure that a restore may have to repeat. */
export interface ListedErasure {
  id: string;
  /** See `UserHasher`. */
  userHash: string;
  /** `createdAt` and `erasesUntil` are in ISO 8601. Only events that were received up to `erasesUntil` are erased. */
  createdAt: string;
  erasesUntil: string;
}

/**
 * All erasures of an installation; dry runs are left out. The list identifies no user: the hashes can only be checked with the key in the
 * database, which is encrypted with `SECRET_KEY`.
 */
export interface ErasureList {
  format: 1;
  /** The id of the hash key. A database with another key does not recognize the users. Null before the events service's first start. */
  hashKey: string | null;
  erasures: ListedErasure[];
}

/** A connection whose search path is the schema of the events service. */
type Queries = Pick<pg.Client, 'query'>;

const isoTime = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Returns undefined when the database is new. */
export async function readErasureList(queries: Queries): Promise<ErasureList | undefined> {
  const found = await queries.query<{ exists: boolean }>(
    `SELECT to_regclass('erasures') IS NOT NULL AS exists`,
  );
  if (!found.rows[0]?.exists) return undefined;
  const keys = await queries.query<{ id: string }>('SELECT id FROM user_hash_keys');
  const erasures = await queries.query<ListedErasure>(
    `SELECT id, user_hash AS "userHash", ${isoTime('created_at')} AS "createdAt", ${isoTime('erases_until')} AS "erasesUntil"
     FROM erasures WHERE NOT is_dry_run ORDER BY id`,
  );
  return { format: 1, hashKey: keys.rows[0]?.id ?? null, erasures: erasures.rows };
}

/**
 * Adds the erasures that the database lacks. The events service runs them at its next start and recognizes the users by their hashes.
 *
 * @returns the number of erasures that were added
 */
export async function addErasures(queries: Queries, { erasures }: ErasureList): Promise<number> {
  const { rows } = await queries.query<{ id: string }>(
    `INSERT INTO erasures (id, platform_user_id, user_hash, is_dry_run, stage, stage_began_at, progress, counts, created_at,
       erases_until, leased_until)
     SELECT id, NULL, user_hash, false, 'announcing', now(), 0, '{}', created_at, erases_until, now()
     FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[])
       AS listed (id, user_hash, created_at, erases_until)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    [
      erasures.map(({ id }) => id),
      erasures.map(({ userHash }) => userHash),
      erasures.map(({ createdAt }) => createdAt),
      erasures.map(({ erasesUntil }) => erasesUntil),
    ],
  );
  return rows.length;
}

/** @throws Error when the text is not a list of this format */
export function parseErasureList(text: string): ErasureList {
  const list = JSON.parse(text) as Partial<ErasureList>; // Safe cast: the next line checks the fields.
  const { format, hashKey, erasures } = list;
  if (format !== 1 || (hashKey !== null && typeof hashKey !== 'string') || !Array.isArray(erasures))
    throw new Error('the file is not a list of erasures from npm run backup -- --erasures');
  return { format, hashKey, erasures };
}

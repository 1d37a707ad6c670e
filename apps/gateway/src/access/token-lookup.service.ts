import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ServiceError, type ReadLimits } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import type { Caller, CallerToken, Role } from './caller.js';
import type { TokenScope } from './token-scopes.js';

// Maximum age of a cached lookup. Below 1 s, because every gateway must reject a revoked token within a second.
const cacheMs = 800;
const maxCached = 10_000;
// Maximum number of keys that wait for the next query. Not reached in normal operation: at most 8,000 connections have a request in
// progress, and 2,000 WebSockets wait for a token check.
const maxWaiting = 10_000;

const keyPattern = /^[0-9a-f]{40}$/;

// Check the expiry here: expired tokens stay in the table until they are pruned.
const validTokens = `(
  SELECT id, user_id, NULL::text AS name, key_hash, 0 AS version, 'main' AS kind,
    NULL::text[] AS scopes, NULL::text[] AS event_types, NULL::text[] AS channel_ids
  FROM access_tokens
  UNION ALL
  SELECT id, user_id, name, key_hash, version, CASE WHEN is_session THEN 'session' ELSE 'named' END,
    scopes, event_types, channel_ids
  FROM named_tokens WHERE expires_at IS NULL OR expires_at > now()
) AS token JOIN users ON users.id = token.user_id AND NOT users.is_disabled`;

interface TokenRow {
  hash: string;
  userId: string;
  username: string;
  role: Role;
  tokenId: string;
  tokenName: string | null;
  kind: CallerToken['kind'];
  version: number;
  scopes: TokenScope[] | null;
  eventTypes: string[] | null;
  channelIds: string[] | null;
}

/** A token that has become invalid or has new rights. */
export interface EndedToken {
  stamp: string;
  /** True if the token is still valid but has new rights. */
  isChanged: boolean;
}

/** One query and the key hashes that it looks up. */
interface Batch {
  hashes: Set<string>;
  found: Promise<Map<string, Caller>>;
}

/** Finds the user and token for a key. Caches valid keys for less than a second, and unknown keys not at all. */
@Injectable()
export class TokenLookup {
  /** `until` uses performance.now(). If the wall clock is set back, a revoked token must not stay valid longer. */
  private readonly cache = new Map<string, { caller: Caller; until: number }>();
  private readonly usedIds = new Set<string>();
  private next: Batch | undefined;
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Returns the user and token for a key.
   *
   * @throws ServiceError `unauthenticated` for a key that is unknown, revoked, or expired, or whose user is disabled; `unavailable` when
   * too many lookups are pending
   */
  async authenticate(key: string): Promise<Caller> {
    const caller = await this.identify(key);
    if (!caller) throw invalidToken();
    this.usedIds.add(caller.token.id);
    return caller;
  }

  /** Like `authenticate`, but returns undefined instead of throwing `unauthenticated`, and does not count as a use of the token. */
  async identify(key: string): Promise<Caller | undefined> {
    if (!keyPattern.test(key)) return undefined;
    const hash = hashKey(key).toString('hex');
    const cached = this.cache.get(hash);
    if (cached && cached.until > performance.now()) return cached.caller;
    this.cache.delete(hash);
    return (await this.lookUp(hash)).get(hash);
  }

  /** Returns those tokens that have become invalid or have new rights. Reads the database, not the cache. */
  async findEnded(stamps: readonly string[]): Promise<EndedToken[]> {
    return this.dataSource.query<EndedToken[]>(
      `SELECT stamp, valid.version IS NOT NULL AS "isChanged"
       FROM unnest($1::text[]) AS stamp
       LEFT JOIN LATERAL (
         SELECT version FROM ${validTokens} WHERE key_hash = decode(left(stamp, 64), 'hex')
       ) AS valid ON true
       WHERE valid.version IS DISTINCT FROM substr(stamp, 66)::int`,
      [stamps],
    );
  }

  /** Clears the cache. Call it after every change to a token or a user. */
  forget(): void {
    this.cache.clear();
  }

  /** Returns the ids of the tokens that were used since the previous call. */
  takeUsed(): string[] {
    const ids = [...this.usedIds];
    this.usedIds.clear();
    return ids;
  }

  /**
   * Adds a key to the next query. Only one query runs at a time and looks up all waiting keys. A flood of unknown keys therefore occupies
   * one database connection at most, and each key waits for at most two queries.
   */
  private lookUp(hash: string): Promise<Map<string, Caller>> {
    this.next ??= this.startBatch();
    if (this.next.hashes.size >= maxWaiting)
      throw new ServiceError(
        'unavailable',
        'Too many token checks are pending. Retry after the time in `Retry-After`.',
      );
    this.next.hashes.add(hash);
    return this.next.found;
  }

  private startBatch(): Batch {
    const hashes = new Set<string>();
    const found = this.running.then(() => {
      this.next = undefined;
      return this.query([...hashes]);
    });
    // Callers handle the failure when they await `found`. The `catch` here only lets the next batch start.
    this.running = found.catch(() => undefined);
    return { hashes, found };
  }

  private async query(hashes: readonly string[]): Promise<Map<string, Caller>> {
    const askedAt = performance.now();
    const rows = await this.dataSource.query<TokenRow[]>(
      `SELECT encode(key_hash, 'hex') AS hash, users.id AS "userId", username, role, token.id AS "tokenId", token.name AS "tokenName", kind, version,
         scopes, event_types AS "eventTypes", channel_ids AS "channelIds"
       FROM ${validTokens}
       WHERE key_hash = ANY($1::bytea[])`,
      [hashes.map((hash) => Buffer.from(hash, 'hex'))],
    );
    const callers = new Map(rows.map((row) => [row.hash, toCaller(row)]));
    for (const [hash, caller] of callers) this.remember(hash, caller, askedAt);
    return callers;
  }

  private remember(hash: string, caller: Caller, askedAt: number): void {
    if (this.cache.size >= maxCached) this.cache.clear();
    this.cache.set(hash, { caller, until: askedAt + cacheMs });
  }
}

/** SHA-256. A fast hash is safe, because keys are random. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * The error for a client whose token changed while the client waited. If the token is still valid, the client can retry at once with the
 * new rights.
 */
export function endedTokenError({ isChanged }: EndedToken): ServiceError {
  return isChanged
    ? new ServiceError('unavailable', 'The rights of this token have just changed. Try again.')
    : invalidToken();
}

function invalidToken(): ServiceError {
  return new ServiceError('unauthenticated', 'Invalid token.');
}

function toCaller(row: TokenRow): Caller {
  const stamp = `${row.hash}:${row.version}`;
  const token = { id: row.tokenId, name: row.tokenName, stamp, limits: limitsOf(row) };
  return {
    id: row.userId,
    username: row.username,
    role: row.role,
    token:
      row.kind === 'named'
        ? { ...token, kind: row.kind, scopes: row.scopes ?? [] }
        : { ...token, kind: row.kind },
  };
}

function limitsOf({ eventTypes, channelIds }: TokenRow): ReadLimits {
  return { ...(eventTypes && { eventTypes }), ...(channelIds && { channelIds }) };
}

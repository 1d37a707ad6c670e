import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { receivedAt, ServiceError } from '@stream-events/contracts';
import { generateId } from '@stream-events/ingest';
import { CONFIG, SecretBox } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import type { CallerToken } from '../access/caller.js';
import { hashKey, TokenLookup } from '../access/token-lookup.service.js';
import { limitableScopes, type TokenScope } from '../access/token-scopes.js';
import type { GatewayConfig } from '../gateway.config.js';
import { MainToken } from './main-token.entity.js';
import { NamedToken } from './named-token.entity.js';

/** Maximum number of named tokens per user. Keeps a client that creates tokens in a loop from filling the disk; no user needs this many. */
export const maxNamedTokens = 100;
const maxSessions = 100;
const sessionMs = 12 * 3_600_000;
const maxPruned = 1_000;
const minuteMs = 60_000;
const warningDays = 30;
// Limits the alarms that one user can raise: without a limit, they could displace all other alarms.
const maxExpiring = 20;

/** The rights of a named token. */
export interface TokenRights {
  scopes: TokenScope[];
  /** Null: all event types. */
  eventTypes: string[] | null;
  /** Null: all channels. */
  channelIds: string[] | null;
}

/** The user-chosen fields of a named token. */
export interface NamedTokenFields extends TokenRights {
  name: string;
  expiresAt: Date | null;
}

/** A token of any kind, without its key. */
export interface Token {
  id: string;
  userId: string;
  kind: CallerToken['kind'];
  name: string;
  /** Null for main tokens and sessions, which have all rights of their user. */
  rights: TokenRights | null;
  /** The first four characters of the key. */
  keyStart: string;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

/** A new token and its key. Only the response to its creation contains the key. */
export interface IssuedToken {
  token: Token;
  key: string;
}

/** A token that expires soon. */
export interface ExpiringToken {
  id: string;
  name: string;
  username: string;
  expiresAt: Date;
}

/**
 * Issues, lists, and revokes tokens: one main token per user, named tokens, and sessions. A key is random and has 40 hexadecimal
 * characters.
 */
@Injectable()
export class Tokens {
  private readonly box: SecretBox;

  constructor(
    private readonly dataSource: DataSource,
    private readonly lookup: TokenLookup,
    @Inject(CONFIG) config: Pick<GatewayConfig, 'SECRET_KEY'>,
  ) {
    this.box = new SecretBox(config.SECRET_KEY);
  }

  /** Issues a new main token and returns its key. Invalidates the user's previous main token. */
  async issueMain(userId: string, manager: EntityManager = this.dataSource.manager): Promise<string> {
    const key = generateKey();
    const token = {
      userId,
      keyHash: hashKey(key),
      keyEncrypted: this.box.encrypt(key, userId),
      keyStart: startOf(key),
      createdAt: new Date(),
      lastUsedAt: null,
    };
    await manager.upsert(MainToken, token, ['userId']);
    this.lookup.forget();
    return key;
  }

  /** Returns the key of a user's main token. Issues a new token if the user has none. The caller must have locked the user's row. */
  async revealMain(userId: string, manager: EntityManager): Promise<string> {
    const token = await manager.findOneBy(MainToken, { userId });
    return token ? this.box.decrypt(token.keyEncrypted, userId) : this.issueMain(userId, manager);
  }

  /**
   * @throws ServiceError `invalid` on `scopes` that cannot be limited; `conflict` when the user has too many named tokens;
   * `unauthenticated` when the user was disabled or deleted during the request
   */
  async create(userId: string, { name, expiresAt, ...rights }: NamedTokenFields): Promise<IssuedToken> {
    refuseUnlimitableScopes(rights);
    return this.dataSource.transaction(async (manager) => {
      // Lock the user, so that concurrent requests cannot exceed the maximum.
      const users = await manager.query<unknown[]>(
        'SELECT FROM users WHERE id = $1 AND NOT is_disabled FOR UPDATE',
        [userId],
      );
      if (users.length === 0) throw new ServiceError('unauthenticated', 'Invalid token.');
      if ((await manager.countBy(NamedToken, { userId, isSession: false })) >= maxNamedTokens)
        throw new ServiceError(
          'conflict',
          `This user has ${maxNamedTokens} named tokens, the maximum. Revoke an unused token first.`,
        );
      return add(manager, { userId, name, isSession: false, expiresAt, ...rights });
    });
  }

  /** Starts a 12-hour session. If the user already has 100 sessions, ends the oldest one. The caller must have locked the user's row. */
  async startSession(userId: string, manager: EntityManager): Promise<IssuedToken> {
    const [oldest] = await manager.find(NamedToken, {
      where: { userId, isSession: true },
      order: { id: 'DESC' },
      skip: maxSessions - 1,
      take: 1,
    });
    if (oldest) await manager.delete(NamedToken, { id: oldest.id });
    return add(manager, {
      userId,
      name: 'Session',
      isSession: true,
      expiresAt: new Date(Date.now() + sessionMs),
      scopes: [],
      eventTypes: null,
      channelIds: null,
    });
  }

  /** Lists a user's main token, then sessions and named tokens, newest first. Omits expired tokens. */
  async list(userId: string): Promise<Token[]> {
    const main = await this.dataSource.manager.findBy(MainToken, { userId });
    const named = await this.dataSource.manager.find(NamedToken, {
      where: { userId },
      order: { id: 'DESC' },
    });
    return [...main.map(describeMain), ...named.map(describeNamed)].filter(isUnexpired);
  }

  /**
   * Finds a token, among the tokens of `userId` if given.
   *
   * @throws ServiceError `not_found`
   */
  async get(id: string, userId?: string): Promise<Token> {
    const where = { id, ...(userId !== undefined && { userId }) };
    const main = await this.dataSource.manager.findOneBy(MainToken, where);
    const named = main ? null : await this.dataSource.manager.findOneBy(NamedToken, where);
    const token = main ? describeMain(main) : named && describeNamed(named);
    if (!token || !isUnexpired(token)) throw missingToken(id);
    return token;
  }

  /**
   * Changes a named token. New scopes and limits apply within a second, and the token's live connections then close.
   *
   * @throws ServiceError `not_found`; `invalid` on `scopes` that cannot be limited
   */
  async change(id: string, changes: Partial<NamedTokenFields>): Promise<Token> {
    const fields = Object.keys(changes);
    if (fields.length === 0) return this.get(id); // TypeORM fails on an update without columns
    const affectsRights = fields.some((field) => field !== 'name' && field !== 'expiresAt');
    await this.dataSource.transaction(async (manager) => {
      // Lock the token: two concurrent changes can each be allowed and still conflict with each other.
      const lock = { mode: 'pessimistic_write' } as const;
      const token = await manager.findOne(NamedToken, { where: { id }, lock });
      if (!token) throw missingToken(id);
      refuseUnlimitableScopes({ ...token, ...changes });
      await manager.update(
        NamedToken,
        { id },
        { ...changes, ...(affectsRights && { version: token.version + 1 }) },
      );
    });
    this.lookup.forget();
    return this.get(id);
  }

  /** Every gateway rejects the token within a second. */
  async revoke(id: string): Promise<void> {
    await this.dataSource.manager.delete(MainToken, { id });
    await this.dataSource.manager.delete(NamedToken, { id });
    this.lookup.forget();
  }

  async revokeAll(userId: string, manager: EntityManager): Promise<void> {
    await manager.delete(MainToken, { userId });
    await manager.delete(NamedToken, { userId });
    this.lookup.forget();
  }

  /** Ends all sessions of a user except `exceptId`. */
  async endSessions(userId: string, exceptId: string, manager: EntityManager): Promise<void> {
    await manager
      .createQueryBuilder()
      .delete()
      .from(NamedToken)
      .where('user_id = :userId AND is_session AND id <> :exceptId', { userId, exceptId })
      .execute();
    this.lookup.forget();
  }

  /** Saves last-used times, to the minute. Updates each token at most once a minute. */
  async saveUses(): Promise<void> {
    const ids = this.lookup.takeUsed();
    const minute = new Date(Math.floor(Date.now() / minuteMs) * minuteMs);
    if (ids.length === 0) return;
    for (const table of ['access_tokens', 'named_tokens'])
      await this.dataSource.query(
        `UPDATE ${table} SET last_used_at = $2
         WHERE id = ANY($1::uuid[]) AND (last_used_at IS NULL OR last_used_at < $2)`,
        [ids, minute],
      );
  }

  /**
   * Lists the tokens of browser sources that expire within 30 days: the first 20 to expire. The token of a browser source can receive the
   * live events of chosen channels.
   */
  listExpiring(): Promise<ExpiringToken[]> {
    return this.dataSource.query(
      `SELECT named_tokens.id, name, username, expires_at AS "expiresAt"
       FROM named_tokens JOIN users ON users.id = user_id
       WHERE scopes @> '{events:live}' AND channel_ids IS NOT NULL
         AND expires_at BETWEEN now() AND now() + interval '${warningDays} days'
       ORDER BY expires_at, named_tokens.id LIMIT ${maxExpiring}`,
    );
  }

  /** Deletes one batch of expired tokens. Returns true if more may remain. */
  async prune(): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM named_tokens WHERE id = ANY(ARRAY(
         SELECT id FROM named_tokens WHERE expires_at < now() ORDER BY expires_at LIMIT ${maxPruned}
       ))`,
    );
    return count === maxPruned;
  }
}

async function add(
  manager: EntityManager,
  fields: Omit<NamedToken, 'id' | 'keyHash' | 'keyStart' | 'version' | 'lastUsedAt'>,
): Promise<IssuedToken> {
  const key = generateKey();
  const token: NamedToken = {
    ...fields,
    id: generateId(),
    keyHash: hashKey(key),
    keyStart: startOf(key),
    version: 1,
    lastUsedAt: null,
  };
  await manager.insert(NamedToken, token);
  return { token: describeNamed(token), key };
}

function describeMain({ id, userId, keyStart, createdAt, lastUsedAt }: MainToken): Token {
  return {
    id,
    userId,
    kind: 'main',
    name: 'Main token',
    rights: null,
    keyStart,
    createdAt,
    expiresAt: null,
    lastUsedAt,
  };
}

function describeNamed({ scopes, eventTypes, channelIds, ...token }: NamedToken): Token {
  return {
    id: token.id,
    userId: token.userId,
    kind: token.isSession ? 'session' : 'named',
    name: token.name,
    rights: token.isSession ? null : { scopes, eventTypes, channelIds },
    keyStart: token.keyStart,
    createdAt: new Date(receivedAt(token.id)),
    expiresAt: token.expiresAt,
    lastUsedAt: token.lastUsedAt,
  };
}

function isUnexpired({ expiresAt }: Token): boolean {
  return expiresAt === null || expiresAt.getTime() > Date.now();
}

function missingToken(id: string): ServiceError {
  return new ServiceError('not_found', `There is no token ${id}.`);
}

/**
 * A token with limits can only have the scopes in `limitableScopes`.
 *
 * @throws ServiceError `invalid` on `scopes`
 */
function refuseUnlimitableScopes({ scopes, eventTypes, channelIds }: TokenRights): void {
  if (eventTypes === null && channelIds === null) return;
  const fault = scopes.filter((scope) => !limitableScopes.includes(scope));
  if (fault.length > 0)
    throw ServiceError.onField(
      'scopes',
      `cannot have ${fault.join(', ')} while event_types or channel_ids limit the token`,
    );
}

function generateKey(): string {
  return randomBytes(20).toString('hex');
}

function startOf(key: string): string {
  return key.slice(0, 4);
}

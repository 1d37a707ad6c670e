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

/** Maximum number of named tokens per user, far more than a user needs. Prevents a user with a token-creating loop from filling the disk. */
export const maxNamedTokens = 100;
const maxSessions = 100;
const sessionMs = 12 * 3_600_000;
const maxPruned = 1_000;
const minuteMs = 60_000;

/** What a named token allows. */
export interface TokenRights {
  scopes: TokenScope[];
  /** Null: events of all types. */
  eventTypes: string[] | null;
  /** Null: events of all channels. */
  channelIds: string[] | null;
}

/** The fields of a named token that its user chooses. */
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
  /** Null for a main token and a session, which have all rights of their user. */
  rights: TokenRights | null;
  /** The first four characters of the key. Null for a main token that version 0.1.0 of the service created. */
  keyStart: string | null;
  /** Null for a main token that version 0.1.0 of the service created. */
  createdAt: Date | null;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

/** A new token with its key, which the service shows only once. */
export interface IssuedToken {
  token: Token;
  key: string;
}

/** The tokens of the users: one main token each, named tokens, and sessions. Keys are random, with 40 hexadecimal characters. */
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

  /** Issues a new main token for a user, and returns its key. The user's old main token becomes invalid. */
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

  /** Returns the key of a user's main token. Issues a new main token if the old one was revoked. The caller must have locked the user. */
  async revealMain(userId: string, manager: EntityManager): Promise<string> {
    const token = await manager.findOneBy(MainToken, { userId });
    return token ? this.box.decrypt(token.keyEncrypted, userId) : this.issueMain(userId, manager);
  }

  /**
   * @throws ServiceError `invalid` on `scopes` that cannot be limited; `conflict` when the user has too many named tokens;
   * `unauthenticated` when the user was disabled or deleted after the request began
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

  /**
   * Starts a 12-hour session, and returns its token. If the user already has 100 sessions, ends the oldest session. The caller must have
   * locked the user.
   */
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

  /** Returns the main token of a user, then the sessions and named tokens, newest first. Omits expired tokens. */
  async list(userId: string): Promise<Token[]> {
    const main = await this.dataSource.manager.findBy(MainToken, { userId });
    const named = await this.dataSource.manager.find(NamedToken, {
      where: { userId },
      order: { id: 'DESC' },
    });
    return [...main.map(describeMain), ...named.map(describeNamed)].filter(isUnexpired);
  }

  /**
   * Finds a token by its id, among the tokens of all users or of one user.
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
   * Changes a named token, and returns it. New rights apply within a second. Changing the rights closes the token's live connections.
   *
   * @throws ServiceError `not_found`; `invalid` on `scopes` that cannot be limited
   */
  async change(id: string, changes: Partial<NamedTokenFields>): Promise<Token> {
    const fields = Object.keys(changes);
    if (fields.length === 0) return this.get(id); // an update of no column is an error
    const affectsRights = fields.some((field) => field !== 'name' && field !== 'expiresAt');
    await this.dataSource.transaction(async (manager) => {
      // Lock the token, because two concurrent changes that are allowed separately may not be allowed together.
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

  /** Revokes a token. Every gateway rejects the token within a second. */
  async revoke(id: string): Promise<void> {
    await this.dataSource.manager.delete(MainToken, { id });
    await this.dataSource.manager.delete(NamedToken, { id });
    this.lookup.forget();
  }

  /** Revokes all tokens of a user. */
  async revokeAll(userId: string, manager: EntityManager): Promise<void> {
    await manager.delete(MainToken, { userId });
    await manager.delete(NamedToken, { userId });
    this.lookup.forget();
  }

  /** Ends all sessions of a user, except the session `exceptId`. */
  async endSessions(userId: string, exceptId: string, manager: EntityManager): Promise<void> {
    await manager
      .createQueryBuilder()
      .delete()
      .from(NamedToken)
      .where('user_id = :userId AND is_session AND id <> :exceptId', { userId, exceptId })
      .execute();
    this.lookup.forget();
  }

  /** Saves when tokens were last used, to the minute. Writes each token at most once a minute. */
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

  /** Deletes a batch of expired tokens. Returns whether more expired tokens may be left. */
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
 * Refuses scopes that cannot be limited, if the token has limits.
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

import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, SecretBox } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import type { GatewayConfig } from '../gateway.config.js';
import { AccessToken } from './access-token.entity.js';
import type { Role } from './user.entity.js';

/** The user that a request comes from. */
export interface Caller {
  id: string;
  username: string;
  role: Role;
}

// Every gateway must reject a rotated or disabled token within a second, so lookups are cached for less.
const cacheMs = 800;
const maxCached = 10_000;

const keyPattern = /^[0-9a-f]{40}$/;

/** Access tokens: random keys of 40 hexadecimal characters, one per user. */
@Injectable()
export class AccessTokens {
  private readonly box: SecretBox;
  private readonly cache = new Map<string, { caller: Caller; until: number }>();

  constructor(
    private readonly dataSource: DataSource,
    @Inject(CONFIG) config: Pick<GatewayConfig, 'SECRET_KEY'>,
  ) {
    this.box = new SecretBox(config.SECRET_KEY);
  }

  /** Issues a new key to a user. The old key, if any, becomes invalid. */
  async issue(userId: string, manager: EntityManager = this.dataSource.manager): Promise<string> {
    const key = randomBytes(20).toString('hex');
    await manager.upsert(
      AccessToken,
      { userId, keyHash: hashKey(key), keyEncrypted: this.box.encrypt(key, userId) },
      ['userId'],
    );
    this.cache.clear();
    return key;
  }

  /** The user's current key. */
  async reveal(userId: string): Promise<string> {
    const token = await this.dataSource.manager.findOneByOrFail(AccessToken, { userId });
    return this.box.decrypt(token.keyEncrypted, userId);
  }

  /** The user that a key belongs to; undefined when the key is unknown or rotated, or the user is disabled. */
  async identify(key: string): Promise<Caller | undefined> {
    if (!keyPattern.test(key)) return undefined;
    const hash = hashToken(key);
    const cached = this.cache.get(hash);
    if (cached && cached.until > Date.now()) return cached.caller;
    this.cache.delete(hash);
    const [caller] = await this.dataSource.query<Caller[]>(
      `SELECT users.id, username, role FROM access_tokens JOIN users ON users.id = user_id
       WHERE key_hash = decode($1, 'hex') AND NOT is_disabled`,
      [hash],
    );
    if (caller) this.remember(hash, caller);
    return caller;
  }

  /** The tokens of this list that are no longer valid. Reads the database, not the cache. */
  async findEnded(hashes: readonly string[]): Promise<string[]> {
    const ended = await this.dataSource.query<{ hash: string }[]>(
      `SELECT hash FROM unnest($1::text[]) AS hash
       WHERE NOT EXISTS (
         SELECT FROM access_tokens JOIN users ON users.id = user_id
         WHERE key_hash = decode(hash, 'hex') AND NOT is_disabled
       )`,
      [hashes],
    );
    return ended.map(({ hash }) => hash);
  }

  /** Clears the cache, after a user was disabled. */
  forget(): void {
    this.cache.clear();
  }

  private remember(hash: string, caller: Caller): void {
    if (this.cache.size >= maxCached) this.cache.clear();
    this.cache.set(hash, { caller, until: Date.now() + cacheMs });
  }
}

/** The SHA-256 of a key in hexadecimal digits. Identifies a token where the key itself is not needed. */
export function hashToken(key: string): string {
  return hashKey(key).toString('hex');
}

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

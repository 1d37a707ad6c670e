import { Inject, Injectable } from '@nestjs/common';
import type { ConnectionRole } from '@stream-events/contracts';
import { takeKeyedAdvisoryLock } from '@stream-events/database';
import type { DeviceCode, TokenOwner, UserTokens } from '@stream-events/platforms';
import { CONFIG, SecretBox } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import type { PlatformConnectorConfig } from '../platform-connector.config.js';
import { Connection } from './connection.entity.js';

/** A new connection that waits for a user's consent. */
export interface NewConnection {
  clientId: string;
  role: ConnectionRole;
  scopes: string[];
  /** What the connection waits for: a code that the user enters, or a secret that the user's browser brings back. */
  waitsFor: DeviceCode | { stateHash: string; expiresInMs: number };
}

// How long an instance claims a connection. The claim must outlast all calls for one connection: two validations of 3.5 s, a refresh of 8
// s, and up to 9 s of waiting for the refresh lock. If the instance crashes, the connection waits until the claim ends.
export const claimSeconds = 25;
const validationMinutes = 60;
// How long to keep expired connections, so that users can still see why they ended.
const expiredHours = 24;

/** Stores connections. Codes and tokens are encrypted. */
@Injectable()
export class ConnectionsRepository {
  private readonly box: SecretBox;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(CONFIG) config: Pick<PlatformConnectorConfig, 'SECRET_KEY'>,
  ) {
    this.box = new SecretBox(config.SECRET_KEY);
  }

  async list(): Promise<Connection[]> {
    return this.dataSource.getRepository(Connection).find({ order: { id: 'ASC' } });
  }

  async find(id: string, manager: EntityManager = this.dataSource.manager): Promise<Connection | null> {
    return manager.findOneBy(Connection, { id });
  }

  /** Adds a connection. Returns undefined when `maxPending` connections already wait for consent. */
  async add(
    { clientId, role, scopes, waitsFor }: NewConnection,
    maxPending: number,
  ): Promise<Connection | undefined> {
    const id = uuidV7();
    const code = 'deviceCode' in waitsFor ? waitsFor : null;
    return this.dataSource.transaction(async (manager) => {
      await manager.query(
        `DELETE FROM connections WHERE state = 'expired' AND updated_at < now() - interval '${expiredHours} hours'`,
      );
      if ((await manager.countBy(Connection, { state: 'pending' })) >= maxPending) return undefined;
      await manager.query(
        `INSERT INTO connections (id, client_id, role, state, scopes, user_code, verification_uri, device_code_encrypted,
           poll_interval_ms, state_hash, expires_at, due_at)
         VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8::int, $9, now() + make_interval(secs => $10::float / 1000),
           now() + make_interval(secs => coalesce($8::int, $10::float) / 1000))`,
        [
          id,
          clientId,
          role,
          scopes,
          code?.userCode ?? null,
          code?.verificationUri ?? null,
          code && this.box.encrypt(code.deviceCode, id),
          code?.intervalMs ?? null,
          'stateHash' in waitsFor ? waitsFor.stateHash : null,
          waitsFor.expiresInMs,
        ],
      );
      return manager.findOneByOrFail(Connection, { id });
    });
  }

  /**
   * Finds the pending connection of a returning browser, by the hash of its secret. Each secret works once. Returns null when the secret is
   * invalid.
   */
  async takeByState(stateHash: string): Promise<Connection | null> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `WITH taken AS (
         UPDATE connections SET state_hash = NULL WHERE state_hash = $1 AND state = 'pending' AND expires_at > now() RETURNING id
       ) SELECT id FROM taken`,
      [stateHash],
    );
    return rows[0] ? this.find(rows[0].id) : null;
  }

  /** Returns the bot account's id on the platform, or undefined when there is none. */
  async findBotId(clientId: string): Promise<string | undefined> {
    const [bot] = await this.dataSource.query<{ userId: string }[]>(
      `SELECT user_id AS "userId" FROM connections WHERE client_id = $1 AND role = 'bot' AND user_id IS NOT NULL`,
      [clientId],
    );
    return bot?.userId;
  }

  /** Removes and returns a connection. Returns null when it does not exist. */
  async remove(id: string): Promise<Connection | null> {
    return this.dataSource.transaction(async (manager) => {
      const connection = await manager.findOne(Connection, {
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      if (connection) await manager.delete(Connection, { id });
      return connection;
    });
  }

  /**
   * Claims one of the application's connections whose poll or validation is due. No other instance can claim it for 25 s. Returns null when
   * none is due.
   */
  async claimDue(clientId: string): Promise<Connection | null> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `WITH claimed AS (
         UPDATE connections SET due_at = now() + interval '${claimSeconds} seconds'
         WHERE id = (SELECT id FROM connections WHERE client_id = $1 AND due_at <= now() ORDER BY due_at
                     FOR UPDATE SKIP LOCKED LIMIT 1)
         RETURNING id
       ) SELECT id FROM claimed`,
      [clientId],
    );
    return rows[0] ? this.find(rows[0].id) : null;
  }

  /** Makes the tokens of all connected users due for validation within 30 s. */
  async validateSoon(clientId: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE connections SET due_at = least(due_at, now() + random() * interval '30 seconds')
       WHERE client_id = $1 AND state = 'connected'`,
      [clientId],
    );
  }

  /** Makes the tokens of these users due for validation now. */
  async validateUsers(userIds: readonly string[]): Promise<void> {
    await this.dataSource.query(
      `UPDATE connections SET due_at = now() WHERE user_id = ANY($1::text[]) AND state = 'connected'`,
      [userIds],
    );
  }

  /** Makes the next poll or attempt due in this many milliseconds, if there is a next one. */
  async postpone(id: string, milliseconds: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE connections SET due_at = now() + make_interval(secs => $2::float / 1000) WHERE id = $1 AND due_at IS NOT NULL',
      [id, milliseconds],
    );
  }

  /** Saves what the user must do to complete a pending connection, or null if the user must do nothing. */
  async saveAdvice(id: string, remedy: string | null): Promise<void> {
    await this.dataSource.query(
      `UPDATE connections SET remedy = $2, updated_at = now() WHERE id = $1 AND state = 'pending'`,
      [id, remedy],
    );
  }

  /** Saves that a connection ended before the user gave consent. */
  async saveExpired(id: string, remedy: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE connections SET state = 'expired', remedy = $2, user_code = NULL, verification_uri = NULL, expires_at = NULL,
         device_code_encrypted = NULL, state_hash = NULL, due_at = NULL, updated_at = now()
       WHERE id = $1 AND state = 'pending'`,
      [id, remedy],
    );
  }

  /** Saves new tokens. Call this before using a token, because the platform issues each token only once. */
  async saveTokens(
    id: string,
    tokens: UserTokens,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<void> {
    await manager.query(
      `UPDATE connections SET access_token_encrypted = $2, refresh_token_encrypted = $3, device_code_encrypted = NULL,
         user_code = NULL, verification_uri = NULL, expires_at = NULL, updated_at = now()
       WHERE id = $1`,
      [id, this.box.encrypt(tokens.accessToken, id), this.box.encrypt(tokens.refreshToken, id)],
    );
  }

  /**
   * Saves the result of a validation. Replaces an earlier connection of the same user and role, and any earlier bot account. Returns false
   * and changes nothing if the connection no longer has tokens: a concurrent refresh found that the user must connect again.
   */
  async saveConnected({ id, clientId, role }: Connection, owner: TokenOwner): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const rows = await manager.query<unknown[]>(
        'SELECT FROM connections WHERE id = $1 AND access_token_encrypted IS NOT NULL FOR UPDATE',
        [id],
      );
      if (rows.length === 0) return false;
      await manager.query(
        `DELETE FROM connections
         WHERE client_id = $1 AND role = $2 AND id <> $3 AND (user_id = $4 OR (role = 'bot' AND user_id IS NOT NULL))`,
        [clientId, role, id, owner.userId],
      );
      // The jitter spreads the validations of connections that became due together.
      await manager.query(
        `UPDATE connections SET state = 'connected', user_id = $2, login = $3, scopes = $4, remedy = NULL,
           due_at = now() + (0.8 + 0.2 * random()) * interval '${validationMinutes} minutes',
           updated_at = CASE WHEN state = 'connected' AND scopes = $4 THEN updated_at ELSE now() END
         WHERE id = $1`,
        [id, owner.userId, owner.login, owner.scopes],
      );
      return true;
    });
  }

  async saveMonitored(id: string): Promise<void> {
    await this.dataSource.query('UPDATE connections SET is_monitored = true WHERE id = $1', [id]);
  }

  /** Discards the tokens, and saves that the user must connect again. */
  async saveReconnectNeeded(id: string, remedy: string, manager: EntityManager): Promise<void> {
    await manager.query(
      `UPDATE connections SET state = 'reconnect_needed', remedy = $2, access_token_encrypted = NULL,
         refresh_token_encrypted = NULL, due_at = NULL, updated_at = now()
       WHERE id = $1`,
      [id, remedy],
    );
  }

  /** Runs `work` in a transaction with a lock, so that only one instance at a time refreshes a connection's tokens. */
  async exclusively<T>(id: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      // Wait longer for the lock than the 8 s that a refresh can take, but less than the statement timeout of 10 s.
      await manager.query(`SET LOCAL lock_timeout = '9s'`);
      await takeKeyedAdvisoryLock(manager, 'userToken', id);
      return work(manager);
    });
  }

  /** Returns the device code of a pending connection, or undefined when it has none. */
  deviceCodeOf({ id, deviceCodeEncrypted }: Connection): string | undefined {
    return deviceCodeEncrypted === null ? undefined : this.box.decrypt(deviceCodeEncrypted, id);
  }

  /** Returns the tokens of a connection, or undefined when it has none. */
  tokensOf({ id, accessTokenEncrypted, refreshTokenEncrypted }: Connection): UserTokens | undefined {
    if (accessTokenEncrypted === null || refreshTokenEncrypted === null) return undefined;
    return {
      accessToken: this.box.decrypt(accessTokenEncrypted, id),
      refreshToken: this.box.decrypt(refreshTokenEncrypted, id),
    };
  }
}

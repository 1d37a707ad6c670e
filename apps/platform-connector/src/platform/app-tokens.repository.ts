import { Inject, Injectable } from '@nestjs/common';
import { takeKeyedAdvisoryLock } from '@stream-events/database';
import { CONFIG, SecretBox } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import type { PlatformConnectorConfig } from '../platform-connector.config.js';
import { AppToken } from './app-token.entity.js';

/** A decrypted access token. Times are milliseconds since 1970. */
export interface HeldToken {
  token: string;
  issuedAt: number;
  expiresAt: number;
}

/** What is stored for an application: its token, if any, and the platform's reason if it last rejected the credentials. */
export interface StoredToken {
  held: HeldToken | undefined;
  refusal: string | null;
}

// How long an instance waits while another one requests a token. Longer than the platform takes to issue a token, and shorter than the
// database's statement timeout.
const lockTimeout = '6s';

/** Stores access tokens in encrypted form. */
@Injectable()
export class AppTokensRepository {
  private readonly box: SecretBox;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(CONFIG) config: Pick<PlatformConnectorConfig, 'SECRET_KEY'>,
  ) {
    this.box = new SecretBox(config.SECRET_KEY);
  }

  async find(clientId: string, manager = this.dataSource.manager): Promise<StoredToken> {
    const row = await manager.findOneBy(AppToken, { clientId });
    return { held: row ? this.open(row) : undefined, refusal: row?.refusal ?? null };
  }

  async save(clientId: string, { held, refusal }: StoredToken, manager: EntityManager): Promise<void> {
    const row: AppToken = {
      clientId,
      tokenEncrypted: held ? this.box.encrypt(held.token, clientId) : null,
      issuedAt: held ? new Date(held.issuedAt) : null,
      expiresAt: held ? new Date(held.expiresAt) : null,
      refusal,
    };
    await manager.upsert(AppToken, row, ['clientId']);
  }

  /** Runs `work` in a transaction with a lock, so that only one instance at a time runs it for an application. */
  async exclusively<T>(clientId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
      await takeKeyedAdvisoryLock(manager, 'appToken', clientId);
      return work(manager);
    });
  }

  private open({ clientId, tokenEncrypted, issuedAt, expiresAt }: AppToken): HeldToken | undefined {
    if (tokenEncrypted === null || !issuedAt || !expiresAt) return undefined;
    const token = this.tryDecrypt(tokenEncrypted, clientId);
    return token === undefined
      ? undefined
      : { token, issuedAt: issuedAt.getTime(), expiresAt: expiresAt.getTime() };
  }

  private tryDecrypt(encrypted: string, clientId: string): string | undefined {
    try {
      return this.box.decrypt(encrypted, clientId);
    } catch {
      // SECRET_KEY has changed. Nothing is lost: the service requests a new token.
      return undefined;
    }
  }
}

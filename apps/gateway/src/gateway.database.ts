import {
  connectDatabase,
  createDataSource,
  EncryptionKey,
  migrateDatabase,
  type DatabaseOptions,
  type PoolOptions,
} from '@stream-events/database';
import { serviceSchemas } from '@stream-events/database/roles';
import type { DataSource } from 'typeorm';
import { ApiEndpoint } from './api-endpoints/api-endpoint.entity.js';
import { AuditEntry } from './audit-log/audit-entry.entity.js';
import { CreateUsers1763700000000 } from './migrations/1763700000000-create-users.js';
import { CreateReplays1764400000000 } from './migrations/1764400000000-create-replays.js';
import { CreateScopesAndApiEndpoints1764600000000 } from './migrations/1764600000000-create-scopes-and-api-endpoints.js';
import { CreateAuditLog1766100000000 } from './migrations/1766100000000-create-audit-log.js';
import { CreateNamedTokens1766200000000 } from './migrations/1766200000000-create-named-tokens.js';
import { CreateLoginBudgets1766300000000 } from './migrations/1766300000000-create-login-budgets.js';
import { CreateEncryptionKeys1767200000000 } from './migrations/1767200000000-create-encryption-keys.js';
import { CreateStoredBytes1767100000000 } from './migrations/1767100000000-create-stored-bytes.js';
import { CreateRehearsals1768000000000 } from './migrations/1768000000000-create-rehearsals.js';
import { CountReplayedBeyondInteger1769000000000 } from './migrations/1769000000000-count-replayed-beyond-integer.js';
import { FilterAuditLog1770400000000 } from './migrations/1770400000000-filter-audit-log.js';
import { Rehearsal } from './rehearsals/rehearsal.entity.js';
import { Replay } from './replays/replay.entity.js';
import { Scope } from './scopes/scope.entity.js';
import { AppliedSeed } from './seeds/applied-seed.entity.js';
import { StoredBytes } from './storage/stored-bytes.entity.js';
import { MainToken, mainTokenColumn } from './tokens/main-token.entity.js';
import { NamedToken } from './tokens/named-token.entity.js';
import { KnownLogin } from './users/known-login.entity.js';
import { LoginBudget } from './users/login-budget.entity.js';
import { LoginFailure } from './users/login-failure.entity.js';
import { User } from './users/user.entity.js';

export const schema = {
  name: serviceSchemas.gateway,
  entities: [
    ...[User, MainToken, NamedToken, LoginFailure, LoginBudget, KnownLogin],
    ...[Replay, Scope, ApiEndpoint, AppliedSeed, AuditEntry, EncryptionKey],
    ...[StoredBytes, Rehearsal],
  ],
  migrations: [
    CreateUsers1763700000000,
    CreateReplays1764400000000,
    CreateScopesAndApiEndpoints1764600000000,
    CreateAuditLog1766100000000,
    CreateNamedTokens1766200000000,
    CreateLoginBudgets1766300000000,
    CreateEncryptionKeys1767200000000,
    CreateStoredBytes1767100000000,
    CreateRehearsals1768000000000,
    CountReplayedBeyondInteger1769000000000,
    FilterAuditLog1770400000000,
  ],
  /** Columns that are encrypted with `SECRET_KEY`. */
  encryptedColumns: [mainTokenColumn],
};

/** Connects to the database and applies pending migrations. */
export function connectGatewayDatabase(
  url: string,
  { poolSize = 10, ...options }: Partial<PoolOptions> = {},
): Promise<DataSource> {
  return connectDatabase({ ...optionsOf(url, poolSize), ...options });
}

export function migrateGatewayDatabase({ DATABASE_URL }: { DATABASE_URL: string }): Promise<void> {
  return migrateDatabase(optionsOf(DATABASE_URL, 1));
}

/** Creates a data source that never connects. Enough to generate the API description. */
export function createOfflineDataSource(): DataSource {
  return createDataSource(optionsOf('postgres://nowhere', 1));
}

function optionsOf(url: string, poolSize: number): DatabaseOptions {
  return {
    url,
    poolSize,
    schema: schema.name,
    applicationName: 'gateway',
    entities: schema.entities,
    migrations: schema.migrations,
  };
}

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
import { createGateway } from './migrations/create-gateway.js';
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
  migrations: [createGateway],
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

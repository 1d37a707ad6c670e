import { connectDatabase } from '@stream-events/database';
import type { TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { schema } from '../src/platform-connector.database.js';

// A service gives up after 3 s. On a busy machine, that is too short to get a new connection or a turn in the pool.
const connectTimeoutMs = 30_000;

/** Connects to a test's own database, which contains the connector's schema. */
export async function connectConnector(database: TestDatabase, poolSize: number): Promise<DataSource> {
  return connectDatabase({
    url: database.urlFor(schema.name),
    schema: schema.name,
    entities: schema.entities,
    migrations: schema.migrations,
    applicationName: 'test',
    poolSize,
    connectTimeoutMs,
  });
}

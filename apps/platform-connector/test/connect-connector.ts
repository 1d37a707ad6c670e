import { connectDatabase } from '@stream-events/database';
import type { TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { schema } from '../src/platform-connector.database.js';

/** Connects to a test's own database, with the connector's schema in it. */
export function connectConnector(database: TestDatabase, poolSize: number): Promise<DataSource> {
  return connectDatabase({
    url: database.urlFor(schema.name),
    schema: schema.name,
    entities: schema.entities,
    migrations: schema.migrations,
    applicationName: 'test',
    poolSize,
  });
}

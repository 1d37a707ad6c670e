import type { TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGatewayDatabase, schema } from '../src/gateway.database.js';

/** Time limit for getting a connection from the pool. On a busy machine, this can take longer than the 3 s that services allow. */
export const connectTimeoutMs = 30_000;

/** Connects to the test's own database and creates the gateway's schema in it. */
export function connectGateway(
  database: Pick<TestDatabase, 'urlFor'>,
  poolSize: number,
): Promise<DataSource> {
  return connectGatewayDatabase(database.urlFor(schema.name), { poolSize, connectTimeoutMs });
}

import type { TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGatewayDatabase, schema } from '../src/gateway.database.js';

/** A busy machine can need more than a service's 3 s for a new connection, or for a turn among many parallel queries. */
export const connectTimeoutMs = 30_000;

/** Connects to a test's own database with the gateway's schema in it. */
export function connectGateway(
  database: Pick<TestDatabase, 'urlFor'>,
  poolSize: number,
): Promise<DataSource> {
  return connectGatewayDatabase(database.urlFor(schema.name), { poolSize, connectTimeoutMs });
}

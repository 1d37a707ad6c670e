import type { TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGatewayDatabase } from '../src/gateway.database.js';

/** Connects to a test's own database and creates the gateway's schema there. */
export function connectGateway(database: TestDatabase, poolSize: number): Promise<DataSource> {
  return connectGatewayDatabase(database.url, poolSize);
}

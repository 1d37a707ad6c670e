import { declareMetrics, gauge } from '@stream-events/service';

/** All metrics of this library. `npm run generate` lists them in docs/metrics.md. */
export const databaseMetrics = declareMetrics({
  database_pool_connections: gauge('Connections to PostgreSQL by pool and state: idle, or in_use', [
    'pool',
    'state',
  ]),
  database_pool_waiting_queries: gauge('Queries that wait for a connection to PostgreSQL, by pool', ['pool']),
  encrypted_values: gauge(
    'Encrypted values of a service, by key: the first key of SECRET_KEY, an older key in it, or an unknown key',
    ['schema', 'key'],
  ),
});

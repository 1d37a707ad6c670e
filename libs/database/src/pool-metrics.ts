import { perRegistry, type Registry } from '@stream-events/service';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { databaseMetrics } from './metrics.js';

type PoolCounts = Pick<Pool, 'idleCount' | 'totalCount' | 'waitingCount'>;

const poolsOf = perRegistry((registry) => {
  const pools = new Map<string, PoolCounts>();
  databaseMetrics.database_pool_connections.create(registry, (gauge) => {
    for (const [pool, { idleCount, totalCount }] of pools) {
      gauge.set({ pool, state: 'idle' }, idleCount);
      gauge.set({ pool, state: 'in_use' }, totalCount - idleCount);
    }
  });
  databaseMetrics.database_pool_waiting_queries.create(registry, (gauge) => {
    for (const [pool, { waitingCount }] of pools) gauge.set({ pool }, waitingCount);
  });
  return pools;
});

/** Exports a connection pool's metrics. `name` must be unique in the process. */
export function measurePool(registry: Registry, name: string, pool: PoolCounts | DataSource): void {
  // Safe cast: TypeORM's postgres driver keeps its pool there.
  const counts = 'driver' in pool ? (pool.driver as unknown as { master: PoolCounts }).master : pool;
  poolsOf(registry).set(name, counts);
}

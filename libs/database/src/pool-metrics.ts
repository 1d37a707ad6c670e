import { Gauge, perRegistry, type Registry } from '@stream-events/service';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

type PoolCounts = Pick<Pool, 'idleCount' | 'totalCount' | 'waitingCount'>;

const poolsOf = perRegistry((registry) => {
  const pools = new Map<string, PoolCounts>();
  new Gauge({
    name: 'database_pool_connections',
    help: 'Connections to PostgreSQL by pool and state: idle, or in_use',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { idleCount, totalCount }] of pools) {
        this.set({ pool, state: 'idle' }, idleCount);
        this.set({ pool, state: 'in_use' }, totalCount - idleCount);
      }
    },
  });
  new Gauge({
    name: 'database_pool_waiting_queries',
    help: 'Queries that wait for a connection to PostgreSQL, by pool',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
    },
  });
  return pools;
});

/** Exports a connection pool's metrics. `name` must be unique in the process. */
export function measurePool(registry: Registry, name: string, pool: PoolCounts | DataSource): void {
  // Safe cast: TypeORM's postgres driver keeps its pool there.
  const counts = 'driver' in pool ? (pool.driver as unknown as { master: PoolCounts }).master : pool;
  poolsOf(registry).set(name, counts);
}

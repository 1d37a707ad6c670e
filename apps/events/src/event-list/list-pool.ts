import type { PoolOptions } from '@stream-events/database';

/** Injection token of the connections that read pages. */
export const LIST_POOL = Symbol('LIST_POOL');

/**
 * Pages are read on separate connections, each of which plans a statement only once. Planning a page costs several times as much as reading
 * the page. A plan for unknown parameter values is as good as a plan for known values, because each part of a statement can use only one
 * index; see docs/decisions/row-comparisons.md.
 */
export const listPoolOptions: Pick<PoolOptions, 'poolSize' | 'settings' | 'maxLifetimeSeconds'> = {
  // A page takes at most a millisecond of CPU time. More connections would only hold more plans.
  poolSize: 8,
  // Connections are replaced after an hour. Otherwise, plans for older partitions would accumulate.
  maxLifetimeSeconds: 3_600,
  settings: {
    plan_cache_mode: 'force_generic_plan',
    // For unknown parameter values, the planner assumes large ranges. These settings rule out plans that read a range and sort it.
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
    enable_incremental_sort: 'off',
    max_parallel_workers_per_gather: '0',
    // The settings above raise the estimated cost of plans above the limit at which PostgreSQL compiles a plan. Compiling takes far longer
    // than running the plan.
    jit: 'off',
  },
};

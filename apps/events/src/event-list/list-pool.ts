import type { PoolOptions } from '@stream-events/database';

/** Injection token of the connections that read pages. */
export const LIST_POOL = Symbol('LIST_POOL');

/**
 * Pages have connections of their own, whose statements are planned once. Planning a page costs several times as much as reading
 * it, and a plan for unknown values is as good, because each part of a statement can use only one index; see docs/decisions/row-comparisons.md.
 */
export const listPoolOptions: Pick<PoolOptions, 'poolSize' | 'settings' | 'maxLifetimeSeconds'> = {
  // A page takes a millisecond of CPU time or less. More connections would only hold more plans.
  poolSize: 8,
  // Forgets the statements on partitions that are old by now.
  maxLifetimeSeconds: 3_600,
  settings: {
    plan_cache_mode: 'force_generic_plan',
    // For unknown values, the planner assumes large ranges. These settings rule out plans that read a range and sort it.
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
    enable_incremental_sort: 'off',
    max_parallel_workers_per_gather: '0',
    // The settings above raise the estimated cost of plans above the limit at which PostgreSQL compiles them, which takes far longer.
    jit: 'off',
  },
};

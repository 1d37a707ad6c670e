import type { PoolOptions } from '@stream-events/database';

/** Injection token of the connections that read pages. */
export const LIST_POOL = Symbol('LIST_POOL');

/**
 * Settings of the separate connections that read pages. Each connection plans a statement with up to two conditions only once, because
 * planning a page costs several times as much as reading it. A generic plan is as good as a specific one, because each part of a statement
 * can use only one index; see docs/decisions/row-comparisons.md.
 */
export const listPoolOptions: Pick<PoolOptions, 'poolSize' | 'settings' | 'maxLifetimeSeconds'> = {
  // Most pages take less than 1 ms of CPU time, so more connections would only hold more plans.
  poolSize: 8,
  // Replace connections after an hour, because their plans for old partitions accumulate.
  maxLifetimeSeconds: 3_600,
  settings: {
    plan_cache_mode: 'force_generic_plan',
    // In a generic plan, the planner assumes large ranges and would read and sort them. The settings below rule out such plans.
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
    enable_incremental_sort: 'off',
    max_parallel_workers_per_gather: '0',
    // The settings above inflate the estimated costs beyond the threshold for JIT compilation, which takes far longer than running the
    // plan.
    jit: 'off',
  },
};

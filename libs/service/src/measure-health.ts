import type { Registry } from 'prom-client';
import type { Health } from './health.js';
import { serviceMetrics } from './metrics.js';
import { version } from './version.js';

/** Adds metrics for the running version and for the state of each health check. Each scrape runs the checks. */
export function measureHealth(health: Health, metrics: Registry): void {
  serviceMetrics.build_info.create(metrics).set({ version }, 1);
  serviceMetrics.health_check_failing.create(metrics, async (gauge) => {
    gauge.reset();
    const { checks } = await health.report();
    for (const [check, { status }] of Object.entries(checks)) gauge.set({ check }, status === 'ok' ? 0 : 1);
  });
}

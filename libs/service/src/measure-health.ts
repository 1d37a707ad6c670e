import { Gauge, type Registry } from 'prom-client';
import type { Health } from './health.js';
import { version } from './version.js';

/** Adds metrics for the running version and for the state of each health check. Each scrape runs the checks. */
export function measureHealth(health: Health, metrics: Registry): void {
  new Gauge({
    name: 'build_info',
    help: 'Always 1; the label has the version of the running service',
    labelNames: ['version'],
    registers: [metrics],
  }).set({ version }, 1);
  new Gauge({
    name: 'health_check_failing',
    help: '1 while a check of the process fails, which makes it unready; otherwise 0. /health/ready has the reason',
    labelNames: ['check'],
    registers: [metrics],
    async collect() {
      this.reset();
      const { checks } = await health.report();
      for (const [check, { status }] of Object.entries(checks)) this.set({ check }, status === 'ok' ? 0 : 1);
    },
  });
}

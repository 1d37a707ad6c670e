import { declareMetrics, gauge } from './declare-metrics.js';

/** All metrics of this library. `npm run generate` lists them in docs/metrics.md. */
export const serviceMetrics = declareMetrics({
  build_info: gauge('Always 1; the label has the version of the running service', ['version']),
  health_check_failing: gauge(
    '1 while a check of the process fails, which makes it unready; otherwise 0. /health/ready has the reason',
    ['check'],
  ),
});

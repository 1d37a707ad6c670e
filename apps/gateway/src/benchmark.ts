// Only for the benchmark in apps/system-tests, which calls `HttpMetrics` directly.
export { HttpMetrics } from './http/http-metrics.js';

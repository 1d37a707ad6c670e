// For apps/system-tests only. The benchmark of the metrics calls them directly.
export { HttpMetrics } from './http/http-metrics.js';

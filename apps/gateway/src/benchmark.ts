// Exports for apps/system-tests only: its benchmark of the metrics calls `HttpMetrics` directly.
export { HttpMetrics } from './http/http-metrics.js';

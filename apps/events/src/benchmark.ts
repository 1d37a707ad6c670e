// For apps/system-tests only. The benchmark's raw ceiling writes the same rows with the same statement.
export { schema } from './events.database.js';
export { PartitionsRepository } from './store/partitions.repository.js';
export { toRow, writeBatch, type EventRow } from './store/write-batch.js';
export { StoreMetrics } from './store/store-metrics.js';

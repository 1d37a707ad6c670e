// For apps/system-tests only: the raw ceiling of the benchmark writes the same rows with the same statement.
export { schema } from './events.database.js';
export { PartitionsRepository } from './store/partitions.repository.js';
export { toRow, writeBatch, type EventRow } from './store/write-batch.js';

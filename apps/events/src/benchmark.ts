// Only apps/system-tests imports this file. The benchmark there compares the service with the raw speed of PostgreSQL for the same rows and
// the same statement.
export { schema } from './events.database.js';
export { PartitionsRepository } from './store/partitions.repository.js';
export { toRow, writeBatch, type EventRow } from './store/write-batch.js';

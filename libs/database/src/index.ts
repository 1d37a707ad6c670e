export * from './advisory-locks.js';
export * from './connect-database.js';
export * from './database-error.js';
export type { EncryptedColumn } from './encrypted-columns.js';
export * from './encryption-key.entity.js';
export * from './key-rotation.js';
export * from './lease.js';
export * from './maintenance-session.js';
export * from './store-identity.js';

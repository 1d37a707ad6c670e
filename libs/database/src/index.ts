export * from './advisory-locks.js';
export * from './connect-database.js';
export * from './database-error.js';
export * from './lease.js';
export * from './maintenance-session.js';
export * from './store-identity.js';

export type { NatsUser } from '@stream-events/embedded';
export { describeSchema } from './describe-schema.js';
export { freePort } from './free-port.js';
export { createGuardedDirectory, type GuardedDirectory } from './guarded-directory.js';
export { eventually, type EventuallyOptions } from './eventually.js';
export { startTestNats, type TestNats } from './nats-server.js';
export { startPostgresServer, type TestPostgres } from './postgres-server.js';
export { ServiceProcess, type AppName, type Exit } from './service-process.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';

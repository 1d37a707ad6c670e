import type { BackedUpSchema } from '@stream-events/database/backup';
import { schema } from './gateway.database.js';

/** The gateway's part of a backup. */
export const gatewayBackup: BackedUpSchema = schema;

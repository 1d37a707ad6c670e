import type { BackedUpSchema } from '@stream-events/database/backup';
import { schema } from './gateway.database.js';

/** The schema that backups of the gateway contain. */
export const gatewayBackup: BackedUpSchema = schema;

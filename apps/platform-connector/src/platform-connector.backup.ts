import type { BackedUpSchema } from '@stream-events/database/backup';
import { schema } from './platform-connector.database.js';

/** What a backup includes from the platform connector: its schema. */
export const platformConnectorBackup: BackedUpSchema = schema;

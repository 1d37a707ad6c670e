import type { BackedUpSchema } from '@stream-events/database/backup';
import { schema } from './platform-connector.database.js';

/** The platform connector's part of a backup. */
export const platformConnectorBackup: BackedUpSchema = schema;

import type { BackedUpSchema } from '@stream-events/database/backup';
import { schema } from './streamer-monitor.database.js';

/** The schema that a backup covers for the streamer monitor. */
export const streamerMonitorBackup: BackedUpSchema = schema;

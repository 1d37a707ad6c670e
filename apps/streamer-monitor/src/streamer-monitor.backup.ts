import type { BackedUpSchema } from '@stream-events/database/backup';
import { schema } from './streamer-monitor.database.js';

/** The streamer monitor's part of a backup. */
export const streamerMonitorBackup: BackedUpSchema = schema;

import { StoreIdentity } from '@stream-events/database';
import { serviceSchemas } from '@stream-events/database/roles';
import { createStreamerMonitor } from './migrations/create-streamer-monitor.js';
import { Rebuild } from './rebuild/rebuild.entity.js';
import { Streamer } from './streamers/streamer.entity.js';
import { OfflineEvent } from './streams/offline-event.entity.js';
import { RemovedStream, StreamSample } from './streams/stream-sample.entity.js';
import { Stream } from './streams/stream.entity.js';

export const schema = {
  name: serviceSchemas['streamer-monitor'],
  entities: [OfflineEvent, Rebuild, RemovedStream, StoreIdentity, Stream, Streamer, StreamSample],
  migrations: [createStreamerMonitor],
  /** The values that are encrypted with `SECRET_KEY`. */
  encryptedColumns: [],
};

import { StoreIdentity } from '@stream-events/database';
import { serviceSchemas } from '@stream-events/database/roles';
import { CreateStreamers1764230000000 } from './migrations/1764230000000-create-streamers.js';
import { CreateStoreIdentity1764250000000 } from './migrations/1764250000000-create-store-identity.js';
import { AddRebuildLeaseHolder1766010000000 } from './migrations/1766010000000-add-rebuild-lease-holder.js';
import { IndexSamplesByTime1766120010000 } from './migrations/1766120010000-index-samples-by-time.js';
import { ReplaceSampleTimeIndex1769000000000 } from './migrations/1769000000000-replace-sample-time-index.js';
import { RecordLastAnnouncement1770200010000 } from './migrations/1770200010000-record-last-announcement.js';
import { Rebuild } from './rebuild/rebuild.entity.js';
import { Streamer } from './streamers/streamer.entity.js';
import { OfflineEvent } from './streams/offline-event.entity.js';
import { RemovedStream, StreamSample } from './streams/stream-sample.entity.js';
import { Stream } from './streams/stream.entity.js';

export const schema = {
  name: serviceSchemas['streamer-monitor'],
  entities: [OfflineEvent, Rebuild, RemovedStream, StoreIdentity, Stream, Streamer, StreamSample],
  migrations: [
    CreateStreamers1764230000000,
    CreateStoreIdentity1764250000000,
    AddRebuildLeaseHolder1766010000000,
    IndexSamplesByTime1766120010000,
    ReplaceSampleTimeIndex1769000000000,
    RecordLastAnnouncement1770200010000,
  ],
  /** The values that are encrypted with `SECRET_KEY`. */
  encryptedColumns: [],
};

import { EncryptionKey } from '@stream-events/database';
import { serviceSchemas } from '@stream-events/database/roles';
import { CreateEventStore1763700000000 } from './migrations/1763700000000-create-event-store.js';
import { RetainPublishedBatches1763740000000 } from './migrations/1763740000000-retain-published-batches.js';
import { IndexParkedMessages1764100000000 } from './migrations/1764100000000-index-parked-messages.js';
import { KeepTimeOfOccurrence1764190000000 } from './migrations/1764190000000-keep-time-of-occurrence.js';
import { RenameParkedMessages1766000000000 } from './migrations/1766000000000-rename-parked-messages.js';
import { AddRaidChannels1766100000000 } from './migrations/1766100000000-add-raid-channels.js';
import { CreateRetention1766120000000 } from './migrations/1766120000000-create-retention.js';
import { ReplaceEventIndexes1766150000000 } from './migrations/1766150000000-replace-event-indexes.js';
import { RecordLateMessages1766160000000 } from './migrations/1766160000000-record-late-messages.js';
import { CreateStreamSummaries1766300000000 } from './migrations/1766300000000-create-stream-summaries.js';
import { ErasedMessage } from './erasure/erased-message.entity.js';
import { Erasure } from './erasure/erasure.entity.js';
import { CreateErasures1766450000000 } from './migrations/1766450000000-create-erasures.js';
import { CreateEncryptionKeys1767200000000 } from './migrations/1767200000000-create-encryption-keys.js';
import { CreateOverlaps1767300000000 } from './migrations/1767300000000-create-overlaps.js';
import { KeepEndOfPreviousOverlap1768300000000 } from './migrations/1768300000000-keep-end-of-previous-overlap.js';
import { ReplaceReceivedTimeIndex1769000000000 } from './migrations/1769000000000-replace-received-time-index.js';
import { RememberRaidReports1770200000000 } from './migrations/1770200000000-remember-raid-reports.js';
import { OutboxEntry } from './relay/outbox-entry.entity.js';
import { PublishedBatch } from './relay/published-batch.entity.js';
import { ChannelChange } from './store/channel-change.entity.js';
import { DeadLetter } from './store/dead-letter.entity.js';
import { Event } from './store/event.entity.js';
import { Overlap } from './store/overlap.entity.js';
import { ReceivedMessage } from './store/received-message.entity.js';
import { RaidReport } from './store/raid-report.entity.js';
import { UserHashKey } from './store/user-hash-key.entity.js';
import { userHashKeyColumn } from './store/user-hash-keys.js';
import { UnpairedDelivery } from './store/unpaired-delivery.entity.js';
import { SavedSummary } from './stream-summaries/saved-summary.entity.js';

export const schema = {
  name: serviceSchemas.events,
  entities: [
    Event,
    OutboxEntry,
    DeadLetter,
    PublishedBatch,
    ReceivedMessage,
    ChannelChange,
    SavedSummary,
    Erasure,
    ErasedMessage,
    EncryptionKey,
    UserHashKey,
    Overlap,
    UnpairedDelivery,
    RaidReport,
  ],
  migrations: [
    CreateEventStore1763700000000,
    RetainPublishedBatches1763740000000,
    IndexParkedMessages1764100000000,
    KeepTimeOfOccurrence1764190000000,
    RenameParkedMessages1766000000000,
    AddRaidChannels1766100000000,
    CreateRetention1766120000000,
    ReplaceEventIndexes1766150000000,
    RecordLateMessages1766160000000,
    CreateStreamSummaries1766300000000,
    CreateErasures1766450000000,
    CreateEncryptionKeys1767200000000,
    CreateOverlaps1767300000000,
    KeepEndOfPreviousOverlap1768300000000,
    ReplaceReceivedTimeIndex1769000000000,
    RememberRaidReports1770200000000,
  ],
  /** The values that are encrypted with `SECRET_KEY`. */
  encryptedColumns: [userHashKeyColumn],
};

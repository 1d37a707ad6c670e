import { EncryptionKey } from '@stream-events/database';
import { serviceSchemas } from '@stream-events/database/roles';
import { ErasedMessage } from './erasure/erased-message.entity.js';
import { Erasure } from './erasure/erasure.entity.js';
import { createEventStore } from './migrations/create-event-store.js';
import { OutboxEntry } from './relay/outbox-entry.entity.js';
import { PublishedBatch } from './relay/published-batch.entity.js';
import { ChannelChange } from './store/channel-change.entity.js';
import { DeadLetter } from './store/dead-letter.entity.js';
import { Event } from './store/event.entity.js';
import { ReceivedMessage } from './store/received-message.entity.js';
import { RaidReport } from './store/raid-report.entity.js';
import { UserHashKeyRow } from './store/user-hash-key-row.entity.js';
import { userHashKeyColumn } from './store/user-hash-key.js';
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
    UserHashKeyRow,
    RaidReport,
  ],
  migrations: [createEventStore],
  /** The values that are encrypted with `SECRET_KEY`. */
  encryptedColumns: [userHashKeyColumn],
};

import { CreateEventStore1763700000000 } from './migrations/1763700000000-create-event-store.js';
import { RetainPublishedBatches1763740000000 } from './migrations/1763740000000-retain-published-batches.js';
import { IndexParkedMessages1764100000000 } from './migrations/1764100000000-index-parked-messages.js';
import { KeepTimeOfOccurrence1764190000000 } from './migrations/1764190000000-keep-time-of-occurrence.js';
import { RenameParkedMessages1766000000000 } from './migrations/1766000000000-rename-parked-messages.js';
import { OutboxEntry } from './relay/outbox-entry.entity.js';
import { PublishedBatch } from './relay/published-batch.entity.js';
import { DeadLetter } from './store/dead-letter.entity.js';
import { Event } from './store/event.entity.js';
import { ReceivedMessage } from './store/received-message.entity.js';

/** The database schema of the events service. */
export const schema = {
  name: 'events',
  entities: [Event, OutboxEntry, DeadLetter, PublishedBatch, ReceivedMessage],
  migrations: [
    CreateEventStore1763700000000,
    RetainPublishedBatches1763740000000,
    IndexParkedMessages1764100000000,
    KeepTimeOfOccurrence1764190000000,
    RenameParkedMessages1766000000000,
  ],
};

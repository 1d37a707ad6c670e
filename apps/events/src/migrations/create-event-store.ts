import { createEncryptionKeys, createSchemaMigration, createStoreIdentity } from '@stream-events/database';
import { indexDefinition, secondaryIndexes } from '../store/event-indexes.js';

const events = [
  `CREATE TABLE events (
    id uuid NOT NULL,
    event_id text,
    event_type text NOT NULL,
    event_source text NOT NULL,
    origin text NOT NULL,
    event_data json NOT NULL,
    broadcaster_user_id text,
    user_id text,
    user_name text,
    reward_id text,
    raid_from text,
    raid_to text,
    raid_from_id text,
    raid_to_id text,
    -- When the event occurred, by the platform's clock. The streamer monitor orders stream events by this time, because messages arrive
    -- late and out of order.
    occurred_at timestamptz,
    CONSTRAINT events_pkey PRIMARY KEY (id),
    CONSTRAINT events_origin_check CHECK (origin IN ('platform', 'test')),
    CONSTRAINT events_event_data_check CHECK (json_typeof(event_data) = 'object')
  ) PARTITION BY RANGE (id)`,
  ...secondaryIndexes.map((index) => `CREATE INDEX ${index.name} ON events ${indexDefinition(index)}`),

  `CREATE TABLE received_messages (
    key uuid NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT received_messages_pkey PRIMARY KEY (key)
  )`,
  // Not a BRIN index: new rows reuse the space of deleted rows, and a BRIN range never narrows. After 25 hours, nearly every range would
  // cover old times, so each deletion of old rows would read the whole table.
  'CREATE INDEX received_messages_received_at_index ON received_messages (received_at)',

  `CREATE TABLE dead_letters (
    key uuid NOT NULL,
    event_id uuid NOT NULL,
    message bytea NOT NULL,
    sql_state text NOT NULL,
    reason text NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT dead_letters_pkey PRIMARY KEY (key)
  )`,
  // Not unique: a gateway may by mistake give two messages the same id, and neither must be lost.
  'CREATE INDEX dead_letters_event_id_index ON dead_letters (event_id)',
];

const publication = [
  `CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY,
    event_ids uuid[] NOT NULL,
    claimed_until timestamptz NOT NULL,
    CONSTRAINT outbox_pkey PRIMARY KEY (id)
  )`,
  // Recently published batches and their epoch, so that the relay can publish them again after the EVENTS stream loses them.
  `CREATE TABLE published_batches (
    id bigint NOT NULL,
    event_ids uuid[] NOT NULL,
    epoch text NOT NULL,
    last_sequence bigint NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT published_batches_pkey PRIMARY KEY (id)
  )`,
  // Every stream check uses this index to find the highest sequence and the rows of other epochs.
  'CREATE INDEX published_batches_sequence_index ON published_batches (epoch, last_sequence)',
  // The single row exists from the start, so that a check can lock it. The epoch is null until the first stream exists. Up to
  // `late_sequence`, the EVENTS stream may contain events that were published long after their receipt.
  `CREATE TABLE event_stream (
    id boolean NOT NULL DEFAULT true,
    epoch text,
    last_sequence bigint NOT NULL DEFAULT 0,
    late_sequence bigint NOT NULL DEFAULT 0,
    CONSTRAINT event_stream_pkey PRIMARY KEY (id),
    CONSTRAINT event_stream_one_row CHECK (id)
  )`,
  'INSERT INTO event_stream DEFAULT VALUES',
];

const retention = [
  // One row: the partition that is being removed, and the time before which events have been removed.
  `CREATE TABLE retention (
    id boolean NOT NULL DEFAULT true,
    removing text,
    removed_before timestamptz,
    CONSTRAINT retention_pkey PRIMARY KEY (id),
    CONSTRAINT retention_one_row CHECK (id)
  )`,
  'INSERT INTO retention DEFAULT VALUES',
];

const summaries = [
  `CREATE TABLE stream_summaries (
    stream uuid NOT NULL,
    channel_id text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    kept_from timestamptz,
    changes bigint NOT NULL,
    version integer NOT NULL,
    summary json NOT NULL,
    CONSTRAINT stream_summaries_pkey PRIMARY KEY (stream)
  )`,
  'CREATE INDEX stream_summaries_channel_index ON stream_summaries (channel_id)',
  'CREATE INDEX stream_summaries_ended_index ON stream_summaries (ended_at)',
  // The changes that outdate saved summaries.
  `CREATE TABLE channel_changes (
    channel_id text NOT NULL,
    day date NOT NULL,
    changes bigint NOT NULL,
    CONSTRAINT channel_changes_pkey PRIMARY KEY (channel_id, day)
  )`,
  'CREATE INDEX channel_changes_day_index ON channel_changes (day)',
];

const erasures = [
  // The service never deletes a row: the hashes keep late messages of erased users out of the store.
  `CREATE TABLE erasures (
    id uuid NOT NULL,
    platform_user_id text,
    user_hash text NOT NULL,
    is_dry_run boolean NOT NULL,
    stage text NOT NULL,
    stage_began_at timestamptz NOT NULL,
    position jsonb,
    progress double precision NOT NULL,
    counts jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    erases_until timestamptz NOT NULL,
    ended_at timestamptz,
    error text,
    leased_by uuid,
    leased_until timestamptz NOT NULL,
    CONSTRAINT erasures_pkey PRIMARY KEY (id),
    CONSTRAINT erasures_ended_check CHECK ((stage = 'done') = (ended_at IS NOT NULL)),
    CONSTRAINT erasures_user_check CHECK (ended_at IS NULL OR platform_user_id IS NULL)
  )`,
  `CREATE TABLE erased_messages (
    epoch text NOT NULL,
    sequence bigint NOT NULL,
    erased_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT erased_messages_pkey PRIMARY KEY (epoch, sequence)
  )`,
  // One row: the key for hashing the ids of erased users. The service adds it when it first starts, because it must encrypt it.
  `CREATE TABLE user_hash_keys (
    id uuid NOT NULL,
    key_encrypted text NOT NULL,
    CONSTRAINT user_hash_keys_pkey PRIMARY KEY (id)
  )`,
];

const raids = [
  // The subscriptions that have reported each raid of the last hour.
  `CREATE TABLE raid_reports (
    event_id uuid NOT NULL,
    subscription text NOT NULL,
    reported_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT raid_reports_pkey PRIMARY KEY (event_id, subscription)
  )`,
];

/** Creates the schema of the events service. */
export const createEventStore = createSchemaMigration('CreateEventStore', [
  createStoreIdentity,
  createEncryptionKeys,
  ...events,
  ...publication,
  ...retention,
  ...summaries,
  ...erasures,
  ...raids,
]);

import { createSchemaMigration, createStoreIdentity } from '@stream-events/database';

const streamers = [
  `CREATE TABLE streamers (
    id uuid NOT NULL,
    platform_username text NOT NULL,
    platform_id text NOT NULL,
    named_at timestamptz NOT NULL,
    streaming boolean NOT NULL,
    is_streaming_known boolean NOT NULL,
    disabled boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    polled_at timestamptz,
    absent_since timestamptz,
    next_poll_at timestamptz NOT NULL,
    next_naming_at timestamptz NOT NULL,
    CONSTRAINT streamers_pkey PRIMARY KEY (id),
    CONSTRAINT streamers_platform_id_unique UNIQUE (platform_id)
  )`,
  // Due streamers come first in these indexes, so finding them takes equally long for any number of streamers.
  'CREATE INDEX streamers_next_poll_index ON streamers (next_poll_at) WHERE NOT disabled',
  'CREATE INDEX streamers_next_naming_index ON streamers (next_naming_at) WHERE NOT disabled',
];

const streams = [
  `CREATE TABLE streams (
    id uuid NOT NULL,
    streamer_id uuid NOT NULL,
    stream_id text NOT NULL,
    user_id text NOT NULL,
    user_login text NOT NULL,
    user_name text NOT NULL,
    game_id text NOT NULL,
    game_name text NOT NULL,
    type text NOT NULL,
    title text NOT NULL,
    viewer_count integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    language text NOT NULL,
    thumbnail_url text NOT NULL,
    tag_ids text,
    is_mature boolean NOT NULL,
    announced_by uuid,
    -- The latest announcement, which reopens a stream that an earlier offline event had ended.
    announced_at timestamptz,
    seen_at timestamptz,
    missed_at timestamptz,
    is_miss_confirmed boolean NOT NULL,
    CONSTRAINT streams_pkey PRIMARY KEY (id),
    CONSTRAINT streams_streamer_stream_unique UNIQUE (streamer_id, stream_id),
    CONSTRAINT streams_streamer_fkey FOREIGN KEY (streamer_id) REFERENCES streamers (id),
    CONSTRAINT streams_end_check CHECK (ended_at >= started_at)
  )`,
  // For the list, whose cursors are ids, and for finding a stream's neighbors in time.
  'CREATE INDEX streams_streamer_id_index ON streams (streamer_id, id)',
  'CREATE INDEX streams_streamer_started_index ON streams (streamer_id, started_at, stream_id)',
  'CREATE INDEX streams_running_index ON streams (streamer_id) WHERE ended_at IS NULL',
  `CREATE TABLE offline_events (
    id uuid NOT NULL,
    streamer_id uuid NOT NULL,
    stream_id text,
    occurred_at timestamptz NOT NULL,
    CONSTRAINT offline_events_pkey PRIMARY KEY (id),
    CONSTRAINT offline_events_streamer_fkey FOREIGN KEY (streamer_id) REFERENCES streamers (id)
  )`,
  'CREATE INDEX offline_events_streamer_index ON offline_events (streamer_id, occurred_at)',
  'CREATE INDEX offline_events_occurred_index ON offline_events (occurred_at)',
];

const samples = [
  // No foreign key to `streams`: a stream can have very many samples, which maintenance deletes in batches after the stream was deleted.
  `CREATE TABLE stream_samples (
    stream uuid NOT NULL,
    at timestamptz NOT NULL,
    viewer_count integer NOT NULL,
    title text NOT NULL,
    game_id text NOT NULL,
    game_name text NOT NULL,
    CONSTRAINT stream_samples_pkey PRIMARY KEY (stream, at)
  )`,
  // Not a BRIN index: new rows reuse the space of deleted rows, and a BRIN range never narrows. After 400 days, nearly every range would
  // cover old times, so each deletion of old samples would read the whole table.
  'CREATE INDEX stream_samples_at_index ON stream_samples (at)',
  `CREATE TABLE removed_streams (
    id uuid NOT NULL,
    removed_at timestamptz NOT NULL,
    CONSTRAINT removed_streams_pkey PRIMARY KEY (id)
  )`,
];

const rebuilds = [
  `CREATE TABLE rebuilds (
    id uuid NOT NULL,
    state text NOT NULL,
    streamers_done integer NOT NULL,
    streamers_total integer NOT NULL,
    streams_changed integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    error text,
    leased_by uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    CONSTRAINT rebuilds_pkey PRIMARY KEY (id),
    CONSTRAINT rebuilds_state_check CHECK (state IN ('running', 'done', 'failed'))
  )`,
  // Allows one running rebuild at a time, across all instances.
  `CREATE UNIQUE INDEX rebuilds_running_unique ON rebuilds (state) WHERE state = 'running'`,
];

/** Creates the schema of the streamer monitor. */
export const createStreamerMonitor = createSchemaMigration('CreateStreamerMonitor', [
  createStoreIdentity,
  ...streamers,
  ...streams,
  ...samples,
  ...rebuilds,
]);

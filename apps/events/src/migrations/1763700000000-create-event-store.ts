import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the event store: partitioned events with filter indexes, received messages, the outbox, and dead letters. */
export class CreateEventStore1763700000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Send everything in one round trip, because every test and every installation waits for this migration.
    await queryRunner.query(statements.join(';\n'));
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

// Every filter has an index that ends in `id`, so that the database reads pages in order at any depth. Most events have no reward and no
// raid, so the indexes on these columns skip nulls and cost such events nothing.
const statements = [
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
    CONSTRAINT events_pkey PRIMARY KEY (id),
    CONSTRAINT events_origin_check CHECK (origin IN ('platform', 'test')),
    CONSTRAINT events_event_data_check CHECK (json_typeof(event_data) = 'object')
  ) PARTITION BY RANGE (id)`,
  'CREATE INDEX events_event_type_index ON events (event_type, id)',
  'CREATE INDEX events_event_source_index ON events (event_source, id)',
  'CREATE INDEX events_origin_index ON events (origin, id)',
  'CREATE INDEX events_event_id_index ON events (event_id, id) WHERE event_id IS NOT NULL',
  'CREATE INDEX events_user_id_index ON events (user_id, id) WHERE user_id IS NOT NULL',
  'CREATE INDEX events_user_name_index ON events (user_name, id) WHERE user_name IS NOT NULL',
  'CREATE INDEX events_broadcaster_index ON events (broadcaster_user_id, id) WHERE broadcaster_user_id IS NOT NULL',
  'CREATE INDEX events_reward_id_index ON events (reward_id, id) WHERE reward_id IS NOT NULL',
  'CREATE INDEX events_raid_from_index ON events (raid_from, id) WHERE raid_from IS NOT NULL',
  'CREATE INDEX events_raid_to_index ON events (raid_to, id) WHERE raid_to IS NOT NULL',
  'CREATE INDEX events_type_user_id_index ON events (event_type, user_id, id) WHERE user_id IS NOT NULL',
  'CREATE INDEX events_type_user_name_index ON events (event_type, user_name, id) WHERE user_name IS NOT NULL',
  'CREATE INDEX events_type_broadcaster_index ON events (event_type, broadcaster_user_id, id) WHERE broadcaster_user_id IS NOT NULL',

  `CREATE TABLE received_messages (
    key uuid NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT received_messages_pkey PRIMARY KEY (key)
  )`,
  // A BRIN index costs inserts almost nothing. But it only works while rows lie in time order, so `ReplaceReceivedTimeIndex1769000000000`
  // replaces this one.
  'CREATE INDEX received_messages_received_at_index ON received_messages USING brin (received_at)',

  `CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY,
    event_ids uuid[] NOT NULL,
    claimed_until timestamptz NOT NULL,
    CONSTRAINT outbox_pkey PRIMARY KEY (id)
  )`,

  `CREATE TABLE parked_messages (
    key uuid NOT NULL,
    event_id uuid NOT NULL,
    message bytea NOT NULL,
    sql_state text NOT NULL,
    reason text NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT parked_messages_pkey PRIMARY KEY (key)
  )`,

  // One row: the platform whose events this database holds.
  `CREATE TABLE store_identity (
    id boolean NOT NULL DEFAULT true,
    platform text NOT NULL,
    CONSTRAINT store_identity_pkey PRIMARY KEY (id),
    CONSTRAINT store_identity_one_row CHECK (id)
  )`,
];

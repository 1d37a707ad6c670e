import { createEncryptionKeys, createSchemaMigration, createStoreIdentity } from '@stream-events/database';

const platform = [
  // A row without a token has a refusal instead: the platform's message from when it last rejected the credentials.
  `CREATE TABLE app_tokens (
    client_id text NOT NULL,
    token_encrypted text,
    issued_at timestamptz,
    expires_at timestamptz,
    refusal text,
    CONSTRAINT app_tokens_pkey PRIMARY KEY (client_id),
    CONSTRAINT app_tokens_token_check CHECK (
      (token_encrypted IS NULL) = (issued_at IS NULL) AND (token_encrypted IS NULL) = (expires_at IS NULL)
    )
  )`,
  // Each user whose token makes calls has a separate budget. An empty user id stands for the application itself.
  `CREATE TABLE rate_budgets (
    client_id text NOT NULL,
    user_id text NOT NULL DEFAULT '',
    calls_per_minute integer NOT NULL,
    remaining double precision NOT NULL,
    counted_at timestamptz NOT NULL,
    blocked_until timestamptz,
    is_reported boolean NOT NULL,
    CONSTRAINT rate_budgets_pkey PRIMARY KEY (client_id, user_id),
    CONSTRAINT rate_budgets_calls_check CHECK (calls_per_minute > 0 AND remaining >= 0)
  )`,
  // The platform's last error, which all instances share.
  `CREATE TABLE platform_errors (
    client_id text NOT NULL,
    at timestamptz NOT NULL,
    message text NOT NULL,
    CONSTRAINT platform_errors_pkey PRIMARY KEY (client_id)
  )`,
  `CREATE TABLE pictures (
    kind text NOT NULL,
    id text NOT NULL,
    bytes bytea,
    media_type text,
    hash text,
    fetched_at timestamptz NOT NULL,
    used_at timestamptz NOT NULL,
    CONSTRAINT pictures_pkey PRIMARY KEY (kind, id),
    CONSTRAINT pictures_kind_check CHECK (kind IN ('user', 'category')),
    CONSTRAINT pictures_content_check CHECK (
      (bytes IS NULL) = (media_type IS NULL) AND (bytes IS NULL) = (hash IS NULL)
    )
  )`,
  // Keep PostgreSQL from compressing pictures, which are already compressed.
  'ALTER TABLE pictures ALTER COLUMN bytes SET STORAGE EXTERNAL',
];

const consents = [
  `CREATE TABLE connections (
    id uuid NOT NULL,
    client_id text NOT NULL,
    role text NOT NULL DEFAULT 'channel',
    state text NOT NULL,
    user_id text,
    login text,
    scopes text[] NOT NULL,
    user_code text,
    verification_uri text,
    device_code_encrypted text,
    -- For the authorization code flow.
    state_hash text,
    poll_interval_ms integer,
    expires_at timestamptz,
    access_token_encrypted text,
    refresh_token_encrypted text,
    is_monitored boolean NOT NULL DEFAULT false,
    remedy text,
    -- When the next poll or validation is due; null when none is due.
    due_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT connections_pkey PRIMARY KEY (id),
    CONSTRAINT connections_client_id_user_id_role_unique UNIQUE (client_id, user_id, role),
    CONSTRAINT connections_state_hash_unique UNIQUE (state_hash),
    CONSTRAINT connections_role_check CHECK (role IN ('channel', 'bot')),
    CONSTRAINT connections_state_check CHECK (state IN ('pending', 'connected', 'reconnect_needed', 'expired')),
    CONSTRAINT connections_connected_check CHECK (state <> 'connected' OR (user_id IS NOT NULL AND login IS NOT NULL
      AND access_token_encrypted IS NOT NULL AND refresh_token_encrypted IS NOT NULL))
  )`,
  `CREATE TABLE user_grants (
    client_id text NOT NULL,
    user_id text NOT NULL,
    -- Null until the platform has listed the user's grants.
    scopes text[],
    -- When the next listing is due.
    due_at timestamptz NOT NULL DEFAULT now(),
    -- Incremented when the user's consent changes. A listing that was requested before the change is outdated.
    revision integer NOT NULL DEFAULT 0,
    CONSTRAINT user_grants_pkey PRIMARY KEY (client_id, user_id)
  )`,
];

const subscriptions = [
  `CREATE TABLE event_types (
    type text NOT NULL,
    version text NOT NULL,
    active boolean NOT NULL,
    CONSTRAINT event_types_pkey PRIMARY KEY (type, version)
  )`,
  `CREATE TABLE streamer_event_types (
    user_id text NOT NULL,
    types text[] NOT NULL,
    CONSTRAINT streamer_event_types_pkey PRIMARY KEY (user_id)
  )`,
  `CREATE TABLE subscriptions (
    id uuid NOT NULL,
    type text NOT NULL,
    version text NOT NULL,
    condition jsonb NOT NULL,
    subscription_id text,
    status text NOT NULL,
    reason text,
    cost integer,
    attempts integer NOT NULL DEFAULT 0,
    retry_at timestamptz,
    -- The transport. All three are null until the connector lists the platform's subscriptions.
    callback text,
    conduit_id text,
    session_id text,
    status_since timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
    -- Two rows with the same type, version, and condition would compete for one subscription on the platform.
    CONSTRAINT subscriptions_type_version_condition_unique UNIQUE (type, version, condition)
  )`,
  // For revocations, which name a subscription by the platform's id.
  'CREATE INDEX subscriptions_subscription_id_index ON subscriptions (subscription_id)',
  'CREATE INDEX subscriptions_status_index ON subscriptions (status, id)',
  `CREATE TABLE reconciliation (
    id boolean NOT NULL DEFAULT true,
    due_at timestamptz NOT NULL DEFAULT now(),
    listing_due_at timestamptz NOT NULL DEFAULT now(),
    holder uuid,
    held_until timestamptz,
    foreign_cost integer NOT NULL DEFAULT 0,
    max_cost integer,
    monitored integer NOT NULL DEFAULT 0,
    completed_at timestamptz,
    -- The webhook secret and the transport that the service wants. Null until a connector starts with them.
    webhook_fingerprints text,
    transport text,
    public_url text,
    CONSTRAINT reconciliation_pkey PRIMARY KEY (id),
    CONSTRAINT reconciliation_one_row CHECK (id)
  )`,
  'INSERT INTO reconciliation DEFAULT VALUES',
];

const sockets = [
  `CREATE TABLE user_sessions (
    user_id text NOT NULL,
    session_id text,
    holder uuid,
    held_until timestamptz,
    settled_at timestamptz,
    CONSTRAINT user_sessions_pkey PRIMARY KEY (user_id)
  )`,
  // An installation has one conduit per application.
  `CREATE TABLE conduits (
    client_id text NOT NULL,
    conduit_id text,
    shard_count integer NOT NULL,
    is_retired boolean NOT NULL DEFAULT false,
    problem text,
    check_due_at timestamptz NOT NULL DEFAULT now(),
    checked_at timestamptz,
    CONSTRAINT conduits_pkey PRIMARY KEY (client_id)
  )`,
  `CREATE TABLE conduit_shards (
    conduit_id text NOT NULL,
    shard_id integer NOT NULL,
    holder uuid,
    held_until timestamptz,
    session_id text,
    sessions text[] NOT NULL DEFAULT '{}',
    status text NOT NULL DEFAULT 'unassigned',
    status_since timestamptz NOT NULL DEFAULT now(),
    settled_until timestamptz,
    CONSTRAINT conduit_shards_pkey PRIMARY KEY (conduit_id, shard_id)
  )`,
  `CREATE TABLE shard_holders (
    id uuid NOT NULL,
    name text NOT NULL,
    held_until timestamptz NOT NULL,
    -- The process id of the connector's PostgreSQL backend.
    backend integer NOT NULL,
    CONSTRAINT shard_holders_pkey PRIMARY KEY (id)
  )`,
  // Periods in which platform messages may be missing.
  `CREATE TABLE delivery_gaps (
    id uuid NOT NULL,
    transport text NOT NULL,
    source text NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz,
    lost integer,
    reason text NOT NULL,
    CONSTRAINT delivery_gaps_pkey PRIMARY KEY (id)
  )`,
  'CREATE INDEX delivery_gaps_from_index ON delivery_gaps (from_at)',
];

const alarms = [
  `CREATE TABLE alarms (
    id uuid NOT NULL,
    key text NOT NULL,
    message text NOT NULL,
    raised_at timestamptz NOT NULL DEFAULT now(),
    -- When a process last reported that the cause exists.
    repeated_at timestamptz NOT NULL DEFAULT now(),
    cleared_at timestamptz,
    CONSTRAINT alarms_pkey PRIMARY KEY (id)
  )`,
  'CREATE UNIQUE INDEX alarms_open_key_unique ON alarms (key) WHERE cleared_at IS NULL',
  'CREATE INDEX alarms_cleared_at_index ON alarms (cleared_at)',
  `CREATE TABLE alarm_posts (
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL,
    alarm_id uuid NOT NULL,
    body text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT alarm_posts_pkey PRIMARY KEY (sequence)
  )`,
  // The lease for the alarm checks.
  `CREATE TABLE alarm_checks (
    id boolean NOT NULL DEFAULT true,
    holder uuid,
    held_until timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT alarm_checks_pkey PRIMARY KEY (id),
    CONSTRAINT alarm_checks_one_row CHECK (id)
  )`,
  'INSERT INTO alarm_checks DEFAULT VALUES',
];

/** Creates the schema of the platform connector. */
export const createPlatformConnector = createSchemaMigration('CreatePlatformConnector', [
  createStoreIdentity,
  createEncryptionKeys,
  ...platform,
  ...consents,
  ...subscriptions,
  ...sockets,
  ...alarms,
]);

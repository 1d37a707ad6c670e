import { createEncryptionKeys, createSchemaMigration } from '@stream-events/database';

const users = [
  `CREATE TABLE users (
    id uuid NOT NULL,
    username text NOT NULL,
    username_key text NOT NULL,
    password_hash text NOT NULL,
    role text NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    email text NOT NULL,
    is_disabled boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_username_key_unique UNIQUE (username_key),
    CONSTRAINT users_role_check CHECK (role IN ('owner', 'user'))
  )`,
  `CREATE TABLE access_tokens (
    user_id uuid NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    key_hash bytea NOT NULL,
    key_encrypted text NOT NULL,
    key_start text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    CONSTRAINT access_tokens_pkey PRIMARY KEY (user_id),
    CONSTRAINT access_tokens_id_unique UNIQUE (id),
    CONSTRAINT access_tokens_key_hash_unique UNIQUE (key_hash),
    CONSTRAINT access_tokens_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
  )`,
  `CREATE TABLE named_tokens (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    is_session boolean NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    event_types text[],
    channel_ids text[],
    key_hash bytea NOT NULL,
    key_start text NOT NULL,
    version integer NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    CONSTRAINT named_tokens_pkey PRIMARY KEY (id),
    CONSTRAINT named_tokens_key_hash_unique UNIQUE (key_hash),
    CONSTRAINT named_tokens_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
  )`,
  'CREATE INDEX named_tokens_by_user ON named_tokens (user_id, id)',
  'CREATE INDEX named_tokens_by_expiry ON named_tokens (expires_at)',
];

const logins = [
  `CREATE TABLE login_failures (
    address text NOT NULL,
    username_hash bytea NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamptz NOT NULL,
    CONSTRAINT login_failures_pkey PRIMARY KEY (address, username_hash)
  )`,
  `CREATE TABLE login_budgets (
    key bytea NOT NULL,
    level double precision NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT login_budgets_pkey PRIMARY KEY (key)
  )`,
  // The addresses from which users have logged in.
  `CREATE TABLE known_logins (
    address text NOT NULL,
    username_hash bytea NOT NULL,
    last_at timestamptz NOT NULL,
    CONSTRAINT known_logins_pkey PRIMARY KEY (address, username_hash)
  )`,
];

const auditLog = [
  // The ids sort by time, so the primary key serves the list and the deletion of old entries.
  `CREATE TABLE audit_log (
    id uuid NOT NULL,
    action text NOT NULL,
    user_id uuid,
    username text,
    object_id text,
    address text,
    count integer NOT NULL,
    CONSTRAINT audit_log_pkey PRIMARY KEY (id)
  )`,
  'CREATE INDEX audit_log_action_index ON audit_log (action, id)',
  'CREATE INDEX audit_log_user_id_index ON audit_log (user_id, id)',
];

const reference = [
  // COLLATE "C" sorts names by code point, independent of the server's locale.
  `CREATE TABLE scopes (
    id uuid NOT NULL,
    scope text COLLATE "C" NOT NULL,
    required boolean NOT NULL,
    CONSTRAINT scopes_pkey PRIMARY KEY (id)
  )`,
  'CREATE INDEX scopes_scope_index ON scopes (scope, id)',
  `CREATE TABLE api_endpoints (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL,
    description text NOT NULL,
    endpoint text NOT NULL,
    method text NOT NULL,
    reference_url text NOT NULL,
    token_type text NOT NULL,
    scope uuid,
    CONSTRAINT api_endpoints_pkey PRIMARY KEY (number),
    CONSTRAINT api_endpoints_id_unique UNIQUE (id),
    CONSTRAINT api_endpoints_token_type_check CHECK (token_type IN ('OA', 'AP')),
    CONSTRAINT api_endpoints_scope_fkey FOREIGN KEY (scope) REFERENCES scopes (id)
  )`,
  // Speeds up deleting a scope, which looks for API endpoints that use it.
  'CREATE INDEX api_endpoints_scope_index ON api_endpoints (scope)',
  `CREATE TABLE applied_seeds (
    id uuid NOT NULL,
    CONSTRAINT applied_seeds_pkey PRIMARY KEY (id)
  )`,
];

const replays = [
  // The service keeps about 100 rows. `replayed` counts exactly up to 2^53, and pg returns it as a number.
  `CREATE TABLE replays (
    id uuid NOT NULL,
    status text NOT NULL,
    filters jsonb NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    rate integer NOT NULL,
    connection_name text,
    replayed double precision NOT NULL,
    position uuid,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    ended_at timestamptz,
    error text,
    leased_by uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    CONSTRAINT replays_pkey PRIMARY KEY (id),
    CONSTRAINT replays_status_check CHECK (status IN ('running', 'done', 'cancelled', 'failed')),
    CONSTRAINT replays_ended_check CHECK ((status = 'running') = (ended_at IS NULL))
  )`,
  // The service keeps about 20 rows per user.
  `CREATE TABLE rehearsals (
    id uuid NOT NULL,
    status text NOT NULL,
    user_id uuid NOT NULL,
    connection_name text NOT NULL,
    streamer_id uuid,
    stream_id uuid,
    filters jsonb NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    speed double precision NOT NULL,
    is_paused boolean NOT NULL,
    reached_at timestamptz NOT NULL,
    position uuid,
    pass integer NOT NULL,
    revision integer NOT NULL,
    sent integer NOT NULL,
    connections integer NOT NULL,
    moved_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    ended_at timestamptz,
    error text,
    leased_by uuid NOT NULL,
    leased_until timestamptz NOT NULL,
    CONSTRAINT rehearsals_pkey PRIMARY KEY (id),
    CONSTRAINT rehearsals_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT rehearsals_status_check CHECK (status IN ('running', 'done', 'cancelled', 'failed')),
    CONSTRAINT rehearsals_ended_check CHECK ((status = 'running') = (ended_at IS NULL))
  )`,
  `CREATE UNIQUE INDEX rehearsals_connection_unique ON rehearsals (user_id, connection_name)
    WHERE status = 'running'`,
];

const storage = [
  // No foreign key to users: events of a deleted user still use space on the EVENTS stream.
  `CREATE TABLE stored_bytes (
    day date NOT NULL,
    user_id uuid NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT stored_bytes_pkey PRIMARY KEY (day, user_id)
  )`,
];

/** Creates the schema of the gateway. */
export const createGateway = createSchemaMigration('CreateGateway', [
  createEncryptionKeys,
  ...users,
  ...logins,
  ...auditLog,
  ...reference,
  ...replays,
  ...storage,
]);

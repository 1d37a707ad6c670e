import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table for channels that have given consent, with their tokens. */
export class CreateConnections1767400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE connections (
    id uuid NOT NULL,
    client_id text NOT NULL,
    state text NOT NULL,
    user_id text,
    login text,
    scopes text[] NOT NULL,
    user_code text,
    verification_uri text,
    device_code_encrypted text,
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
    CONSTRAINT connections_client_id_user_id_unique UNIQUE (client_id, user_id),
    CONSTRAINT connections_state_check CHECK (state IN ('pending', 'connected', 'reconnect_needed', 'expired')),
    CONSTRAINT connections_connected_check CHECK (state <> 'connected' OR (user_id IS NOT NULL AND login IS NOT NULL
      AND access_token_encrypted IS NOT NULL AND refresh_token_encrypted IS NOT NULL))
  )`,
];

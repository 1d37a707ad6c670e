import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of named tokens and sessions. Adds to main tokens the columns that the token list shows. */
export class CreateNamedTokens1766200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE named_tokens (
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
    )`);
    await queryRunner.query('CREATE INDEX named_tokens_by_user ON named_tokens (user_id, id)');
    await queryRunner.query('CREATE INDEX named_tokens_by_expiry ON named_tokens (expires_at)');
    // The new columns are nullable or have defaults, because version 0.1.0 can add rows during the upgrade.
    await queryRunner.query(`ALTER TABLE access_tokens
      ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
      ADD COLUMN key_start text,
      ADD COLUMN created_at timestamptz,
      ADD COLUMN last_used_at timestamptz,
      ADD CONSTRAINT access_tokens_id_unique UNIQUE (id)`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of users, access tokens, and failed logins. */
export class CreateUsers1763700000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE users (
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
    )`);
    await queryRunner.query(`CREATE TABLE access_tokens (
      user_id uuid NOT NULL,
      key_hash bytea NOT NULL,
      key_encrypted text NOT NULL,
      CONSTRAINT access_tokens_pkey PRIMARY KEY (user_id),
      CONSTRAINT access_tokens_key_hash_unique UNIQUE (key_hash),
      CONSTRAINT access_tokens_user_fkey FOREIGN KEY (user_id) REFERENCES users (id)
    )`);
    await queryRunner.query(`CREATE TABLE login_failures (
      address text NOT NULL,
      username_hash bytea NOT NULL,
      failures integer NOT NULL,
      last_failed_at timestamptz NOT NULL,
      CONSTRAINT login_failures_pkey PRIMARY KEY (address, username_hash)
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

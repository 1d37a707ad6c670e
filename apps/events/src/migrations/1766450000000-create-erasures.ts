import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables for erasures of platform users, and for the messages that erasures removed from the EVENTS stream. */
export class CreateErasures1766450000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
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
];

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables for the conduit, its shards, and the connectors that share them. */
export class CreateConduits1767610000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
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
    CONSTRAINT shard_holders_pkey PRIMARY KEY (id)
  )`,
];

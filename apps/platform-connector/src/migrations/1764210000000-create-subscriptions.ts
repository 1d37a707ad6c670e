import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables for active event types, subscriptions, and the reconciliation schedule. */
export class CreateSubscriptions1764210000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE event_types (
    type text NOT NULL,
    version text NOT NULL,
    active boolean NOT NULL,
    CONSTRAINT event_types_pkey PRIMARY KEY (type, version)
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
    CONSTRAINT reconciliation_pkey PRIMARY KEY (id),
    CONSTRAINT reconciliation_one_row CHECK (id)
  )`,
  'INSERT INTO reconciliation DEFAULT VALUES',
];

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables for pairing the deliveries of two subscriptions with the same type and condition. */
export class CreateOverlaps1767300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE subscription_overlaps (
    subscription text NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    kept_since timestamptz,
    CONSTRAINT subscription_overlaps_pkey PRIMARY KEY (subscription)
  )`,

  `CREATE TABLE unpaired_deliveries (
    event_id uuid NOT NULL,
    pairing_key uuid NOT NULL,
    via text NOT NULL,
    occurred_at timestamptz NOT NULL,
    subscribed_at timestamptz NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT unpaired_deliveries_pkey PRIMARY KEY (event_id)
  )`,
  'CREATE INDEX unpaired_deliveries_pairing_key_index ON unpaired_deliveries (pairing_key, occurred_at)',
  'CREATE INDEX unpaired_deliveries_stored_at_index ON unpaired_deliveries (stored_at)',
];

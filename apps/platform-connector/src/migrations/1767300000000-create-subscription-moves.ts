import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the column for the callback of each subscription. Creates the table for subscriptions that move to another webhook secret. */
export class CreateSubscriptionMoves1767300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  // Existing rows have no callback until the connector lists the platform's subscriptions again.
  'ALTER TABLE subscriptions ADD COLUMN callback text',
  // Both columns stay null until a connector of this version starts with a webhook secret.
  'ALTER TABLE reconciliation ADD COLUMN webhook_fingerprints text, ADD COLUMN plain_fingerprint text',
  `CREATE TABLE subscription_moves (
    key text NOT NULL,
    is_ready boolean NOT NULL DEFAULT false,
    enabled_at timestamptz,
    ends_at timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    retry_at timestamptz,
    reason text,
    CONSTRAINT subscription_moves_pkey PRIMARY KEY (key)
  )`,
];

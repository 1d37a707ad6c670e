import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the columns for the transport of each subscription, and for the transport that the service wants. */
export class AddTransports1767600000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  // If `callback` and both of these columns are null, the transport is unknown until the connector lists the platform's subscriptions
  // again.
  'ALTER TABLE subscriptions ADD COLUMN conduit_id text, ADD COLUMN session_id text',
  // Both columns stay null until a connector of this version starts.
  'ALTER TABLE reconciliation ADD COLUMN transport text, ADD COLUMN public_url text',
];

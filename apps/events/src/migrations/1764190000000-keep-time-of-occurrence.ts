import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the time when an event occurred by the platform's clock. The streamer monitor orders stream events by this time, because messages
 * arrive late and out of order.
 */
export class KeepTimeOfOccurrence1764190000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Without a default, PostgreSQL rewrites no rows.
    await queryRunner.query('ALTER TABLE events ADD COLUMN occurred_at timestamptz');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

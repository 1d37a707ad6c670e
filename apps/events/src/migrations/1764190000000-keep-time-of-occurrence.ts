import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the time when an event happened, by the platform's clock. The streamer monitor resolves streams in the order of this time, because
 * messages arrive late and reordered.
 */
export class KeepTimeOfOccurrence1764190000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // The column has no default, so that PostgreSQL rewrites no row.
    await queryRunner.query('ALTER TABLE events ADD COLUMN occurred_at timestamptz');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

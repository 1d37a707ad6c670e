import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an event happened by the platform's own clock: what streams are ordered by, since messages come late and out of order. */
export class KeepTimeOfOccurrence1764190000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Without a default, so that no row is written anew, however many there are.
    await queryRunner.query('ALTER TABLE events ADD COLUMN occurred_at timestamptz');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

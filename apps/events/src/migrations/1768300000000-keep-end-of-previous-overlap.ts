import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps the end of an overlap when the next one of the same subscription begins. */
export class KeepEndOfPreviousOverlap1768300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE subscription_overlaps ADD COLUMN previous_ended_at timestamptz');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

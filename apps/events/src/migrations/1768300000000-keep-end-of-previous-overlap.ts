import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds a column for the end of a subscription's previous overlap, which the next overlap would otherwise overwrite. */
export class KeepEndOfPreviousOverlap1768300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE subscription_overlaps ADD COLUMN previous_ended_at timestamptz');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

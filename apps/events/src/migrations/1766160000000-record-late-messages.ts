import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the sequence up to which the EVENTS stream may contain events that were published long after their receipt. */
export class RecordLateMessages1766160000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE event_stream ADD COLUMN late_sequence bigint NOT NULL DEFAULT 0');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

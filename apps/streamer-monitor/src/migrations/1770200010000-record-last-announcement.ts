import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time of a stream's latest announcement, which reopens a stream that an earlier offline event had ended. */
export class RecordLastAnnouncement1770200010000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE streams ADD COLUMN announced_at timestamptz');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

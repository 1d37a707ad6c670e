import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the holder of a rebuild's lease, which instances of version 0.1.0 leave null. */
export class AddRebuildLeaseHolder1766010000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE rebuilds ADD COLUMN leased_by uuid');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

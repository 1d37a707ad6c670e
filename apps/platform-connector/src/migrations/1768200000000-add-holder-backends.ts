import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the column for the process id of the PostgreSQL backend of each connector that takes shards. */
export class AddHolderBackends1768200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE shard_holders ADD COLUMN backend integer');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import { createStoreIdentity } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table that records which platform's data this schema contains. */
export class CreateStoreIdentity1764240000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(createStoreIdentity);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

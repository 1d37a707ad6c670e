import { createEncryptionKeys } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table for the ids of all keys that have been the first in `SECRET_KEY`. The service uses the ids to re-encrypt values with
 * the newest key.
 */
export class CreateEncryptionKeys1767200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(createEncryptionKeys);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

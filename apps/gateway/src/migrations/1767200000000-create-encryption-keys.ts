import { createEncryptionKeys } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the record of keys from `SECRET_KEY` that were in use. With it, the service re-encrypts old values with the newest key. */
export class CreateEncryptionKeys1767200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(createEncryptionKeys);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import { createEncryptionKeys } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table with the ids of the keys that were first in `SECRET_KEY`. The table does not contain the keys themselves.
 * `KeyRotation` looks up the newest key in this table, and re-encrypts values with that key.
 */
export class CreateEncryptionKeys1767200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(createEncryptionKeys);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

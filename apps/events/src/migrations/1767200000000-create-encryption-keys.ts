import { createEncryptionKeys } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates two tables. One records which keys of `SECRET_KEY` were in use, so that the service can re-encrypt values with the newest key.
 * The other holds the keys for hashing the ids of erased users. The service adds the hash keys when it starts, because it must encrypt
 * them.
 */
export class CreateEncryptionKeys1767200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(createEncryptionKeys);
    await queryRunner.query(`CREATE TABLE user_hash_keys (
      id uuid NOT NULL,
      position integer NOT NULL,
      key_encrypted text NOT NULL,
      CONSTRAINT user_hash_keys_pkey PRIMARY KEY (id),
      CONSTRAINT user_hash_keys_position_key UNIQUE (position)
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How much each user has stored on each day. */
export class CreateStoredBytes1767100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // No reference to users: what a deleted user has stored still takes room on the EVENTS stream.
    await queryRunner.query(`CREATE TABLE stored_bytes (
      day date NOT NULL,
      user_id uuid NOT NULL,
      bytes bigint NOT NULL,
      CONSTRAINT stored_bytes_pkey PRIMARY KEY (day, user_id)
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

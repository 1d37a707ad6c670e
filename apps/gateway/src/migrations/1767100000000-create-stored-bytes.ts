import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of the bytes that each user stored per day. */
export class CreateStoredBytes1767100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // No foreign key to users: events of a deleted user still use space on the EVENTS stream.
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

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the audit log. Its ids sort by time, so the primary key serves the list and the deletion of old entries. */
export class CreateAuditLog1766100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE audit_log (
      id uuid NOT NULL,
      action text NOT NULL,
      user_id uuid,
      username text,
      object_id text,
      address text,
      count integer NOT NULL,
      CONSTRAINT audit_log_pkey PRIMARY KEY (id)
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

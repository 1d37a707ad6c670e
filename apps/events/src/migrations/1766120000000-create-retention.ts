import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the record of retention: which partition is being removed, and before which time events have been removed. */
export class CreateRetention1766120000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // The table always has one row.
    await queryRunner.query(`CREATE TABLE retention (
      id boolean NOT NULL DEFAULT true,
      removing text,
      removed_before timestamptz,
      CONSTRAINT retention_pkey PRIMARY KEY (id),
      CONSTRAINT retention_one_row CHECK (id)
    )`);
    await queryRunner.query('INSERT INTO retention DEFAULT VALUES');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

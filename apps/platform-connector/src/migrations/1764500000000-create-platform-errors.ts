import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table for the platform's last error, which all instances share. */
export class CreatePlatformErrors1764500000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE platform_errors (
      client_id text NOT NULL,
      at timestamptz NOT NULL,
      message text NOT NULL,
      CONSTRAINT platform_errors_pkey PRIMARY KEY (client_id)
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

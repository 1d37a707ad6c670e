import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of failed-login budgets and of addresses from which users have logged in. */
export class CreateLoginBudgets1766300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE login_budgets (
      key bytea NOT NULL,
      level double precision NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT login_budgets_pkey PRIMARY KEY (key)
    )`);
    await queryRunner.query(`CREATE TABLE known_logins (
      address text NOT NULL,
      username_hash bytea NOT NULL,
      last_at timestamptz NOT NULL,
      CONSTRAINT known_logins_pkey PRIMARY KEY (address, username_hash)
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

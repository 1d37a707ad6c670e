import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the user id to the rate budgets, so that each user whose token makes calls has a separate budget. */
export class AddRateBudgetsOfUsers1767900000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  // An empty user id stands for the application itself. An older version that is still running treats all rows of an application as one
  // budget.
  "ALTER TABLE rate_budgets ADD COLUMN user_id text NOT NULL DEFAULT ''",
  'ALTER TABLE rate_budgets DROP CONSTRAINT rate_budgets_pkey',
  'ALTER TABLE rate_budgets ADD CONSTRAINT rate_budgets_pkey PRIMARY KEY (client_id, user_id)',
];

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables for the application's access token and its rate budget. All instances share the token and the budget. */
export class CreateAppTokensAndRateBudgets1764200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  // A row without a token has a refusal instead: the platform's message from when it last rejected the credentials.
  `CREATE TABLE app_tokens (
    client_id text NOT NULL,
    token_encrypted text,
    issued_at timestamptz,
    expires_at timestamptz,
    refusal text,
    CONSTRAINT app_tokens_pkey PRIMARY KEY (client_id),
    CONSTRAINT app_tokens_token_check CHECK (
      (token_encrypted IS NULL) = (issued_at IS NULL) AND (token_encrypted IS NULL) = (expires_at IS NULL)
    )
  )`,
  `CREATE TABLE rate_budgets (
    client_id text NOT NULL,
    calls_per_minute integer NOT NULL,
    remaining double precision NOT NULL,
    counted_at timestamptz NOT NULL,
    blocked_until timestamptz,
    is_reported boolean NOT NULL,
    CONSTRAINT rate_budgets_pkey PRIMARY KEY (client_id),
    CONSTRAINT rate_budgets_calls_check CHECK (calls_per_minute > 0 AND remaining >= 0)
  )`,
];

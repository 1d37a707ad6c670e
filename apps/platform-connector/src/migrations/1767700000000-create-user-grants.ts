import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table for the scopes that users have granted. Activates the event types that report changed grants. */
export class CreateUserGrants1767700000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE user_grants (
    client_id text NOT NULL,
    user_id text NOT NULL,
    -- Null until the platform has listed the user's grants.
    scopes text[],
    -- When the next listing is due.
    due_at timestamptz NOT NULL DEFAULT now(),
    -- Incremented when the user's consent changes. A listing that was requested before the change is outdated.
    revision integer NOT NULL DEFAULT 0,
    CONSTRAINT user_grants_pkey PRIMARY KEY (client_id, user_id)
  )`,
  // Without these event types, the service can notice a change of consent up to an hour late.
  `UPDATE event_types SET active = true WHERE type IN ('user.authorization.grant', 'user.authorization.revoke')`,
];

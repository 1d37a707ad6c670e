import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the columns for connection roles and for the authorization code flow. */
export class AddConnectionRoles1767700100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE connections
         ADD COLUMN role text NOT NULL DEFAULT 'channel',
         ADD COLUMN state_hash text,
         ADD CONSTRAINT connections_role_check CHECK (role IN ('channel', 'bot')),
         ADD CONSTRAINT connections_state_hash_unique UNIQUE (state_hash),
         DROP CONSTRAINT connections_client_id_user_id_unique,
         ADD CONSTRAINT connections_client_id_user_id_role_unique UNIQUE (client_id, user_id, role)`,
    );
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

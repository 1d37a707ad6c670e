import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table for the event sockets of connected users. */
export class CreateUserSessions1767510000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE user_sessions (
      user_id text NOT NULL,
      session_id text,
      holder uuid,
      held_until timestamptz,
      settled_at timestamptz,
      CONSTRAINT user_sessions_pkey PRIMARY KEY (user_id)
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

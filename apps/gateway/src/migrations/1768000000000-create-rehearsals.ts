import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of rehearsals. The service keeps about 20 rows per user. */
export class CreateRehearsals1768000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE rehearsals (
      id uuid NOT NULL,
      status text NOT NULL,
      user_id uuid NOT NULL,
      connection_name text NOT NULL,
      streamer_id uuid,
      stream_id uuid,
      filters jsonb NOT NULL,
      since timestamptz NOT NULL,
      until timestamptz NOT NULL,
      speed double precision NOT NULL,
      is_paused boolean NOT NULL,
      reached_at timestamptz NOT NULL,
      position uuid,
      pass integer NOT NULL,
      revision integer NOT NULL,
      sent integer NOT NULL,
      connections integer NOT NULL,
      moved_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      created_by text NOT NULL,
      ended_at timestamptz,
      error text,
      leased_by uuid NOT NULL,
      leased_until timestamptz NOT NULL,
      CONSTRAINT rehearsals_pkey PRIMARY KEY (id),
      CONSTRAINT rehearsals_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
      CONSTRAINT rehearsals_status_check CHECK (status IN ('running', 'done', 'cancelled', 'failed')),
      CONSTRAINT rehearsals_ended_check CHECK ((status = 'running') = (ended_at IS NULL))
    )`);
    await queryRunner.query(`CREATE UNIQUE INDEX rehearsals_connection_unique ON rehearsals (user_id, connection_name)
      WHERE status = 'running'`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

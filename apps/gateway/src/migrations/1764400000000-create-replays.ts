import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of replays. The service keeps about 100 rows. */
export class CreateReplays1764400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE replays (
      id uuid NOT NULL,
      status text NOT NULL,
      filters jsonb NOT NULL,
      since timestamptz NOT NULL,
      until timestamptz NOT NULL,
      rate integer NOT NULL,
      connection_name text,
      replayed integer NOT NULL,
      position uuid,
      created_at timestamptz NOT NULL,
      created_by text NOT NULL,
      ended_at timestamptz,
      error text,
      leased_by uuid NOT NULL,
      leased_until timestamptz NOT NULL,
      CONSTRAINT replays_pkey PRIMARY KEY (id),
      CONSTRAINT replays_status_check CHECK (status IN ('running', 'done', 'cancelled', 'failed')),
      CONSTRAINT replays_ended_check CHECK ((status = 'running') = (ended_at IS NULL))
    )`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table for the event types that were chosen for streamers. */
export class CreateStreamerEventTypes1767700200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE streamer_event_types (
         user_id text NOT NULL,
         types text[] NOT NULL,
         CONSTRAINT streamer_event_types_pkey PRIMARY KEY (user_id)
       )`,
    );
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

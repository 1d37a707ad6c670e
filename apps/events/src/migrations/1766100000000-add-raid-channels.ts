import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the ids of a raid's two channels. `RaidChannelBackfill` fills them in for stored events. */
export class AddRaidChannels1766100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Without defaults, PostgreSQL rewrites no rows. One statement locks the table only once.
    await queryRunner.query('ALTER TABLE events ADD COLUMN raid_from_id text, ADD COLUMN raid_to_id text');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the ids of the two channels of a raid. Events that are already stored have null until they are backfilled. */
export class AddRaidChannels1766100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // The columns have no defaults, so that PostgreSQL rewrites no row. One statement adds both, so that the table is locked only once.
    await queryRunner.query('ALTER TABLE events ADD COLUMN raid_from_id text, ADD COLUMN raid_to_id text');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

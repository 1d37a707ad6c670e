import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexesOfEmptyStore } from '../store/empty-store.js';

/**
 * Replaces the indexes of `events` immediately if the store has no partitions. A store with partitions stays in use: `EventIndexBuilder`
 * builds the indexes, and `RaidChannelBackfill` fills in the channel ids of raids.
 */
export class ReplaceEventIndexes1766150000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(createBackfills);
    if (!(await createIndexesOfEmptyStore(queryRunner))) await queryRunner.query(startBackfill);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const createBackfills = `CREATE TABLE backfills (
  name text NOT NULL,
  after_id uuid NOT NULL,
  resume_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  CONSTRAINT backfills_pkey PRIMARY KEY (name)
)`;

// Instances of the earlier version may still store raids without channels; a day is enough to replace these instances.
const startBackfill = `INSERT INTO backfills (name, after_id, resume_at, ends_at)
  VALUES ('raid-channels', '00000000-0000-0000-0000-000000000000', now(), now() + interval '1 day')`;

import { buildIndex, dropIndex } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replaces the BRIN index on the time of samples. New rows take the space of deleted rows, and the ranges of a BRIN index never narrow.
 * After 400 days, nearly all ranges would contain old times, so each removal of old samples would read the whole table.
 */
export class ReplaceSampleTimeIndex1769000000000 implements MigrationInterface {
  // Outside a transaction, PostgreSQL can build the index of a large table while samples are recorded.
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await buildIndex(queryRunner, 'stream_samples_at_btree_index', 'stream_samples (at)');
    await dropIndex(queryRunner, 'stream_samples_at_index');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

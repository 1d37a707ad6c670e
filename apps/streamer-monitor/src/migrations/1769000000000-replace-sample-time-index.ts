import { buildIndex, dropIndex } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replaces the BRIN index on the time of samples by a B-tree index. New rows reuse the space of deleted rows, and a BRIN range never
 * narrows. After 400 days, nearly every range would cover old times, so each deletion of old samples would read the whole table.
 */
export class ReplaceSampleTimeIndex1769000000000 implements MigrationInterface {
  // Outside a transaction, PostgreSQL can build the index while samples are recorded.
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await buildIndex(queryRunner, 'stream_samples_at_btree_index', 'stream_samples (at)');
    await dropIndex(queryRunner, 'stream_samples_at_index');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

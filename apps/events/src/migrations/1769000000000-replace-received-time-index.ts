import { buildIndex, dropIndex } from '@stream-events/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replaces the BRIN index on the time of receipt by a B-tree index. New rows reuse the space of deleted rows, and a BRIN range never
 * narrows. After 25 hours, nearly every range covered old times, so each deletion of old rows read the whole table.
 */
export class ReplaceReceivedTimeIndex1769000000000 implements MigrationInterface {
  // Outside a transaction, PostgreSQL can build the index while events arrive.
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await buildIndex(
      queryRunner,
      'received_messages_received_at_btree_index',
      'received_messages (received_at)',
    );
    await dropIndex(queryRunner, 'received_messages_received_at_index');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

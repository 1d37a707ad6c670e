import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Renames parked messages, as version 0.1.0 called them, to dead letters. The view lets instances of version 0.1.0 use the table during a
 * rolling upgrade; a later version drops the view.
 */
export class RenameParkedMessages1766000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [
      'ALTER TABLE parked_messages RENAME TO dead_letters',
      'ALTER TABLE dead_letters RENAME COLUMN parked_at TO failed_at',
      'ALTER TABLE dead_letters RENAME CONSTRAINT parked_messages_pkey TO dead_letters_pkey',
      'ALTER INDEX parked_messages_event_id_index RENAME TO dead_letters_event_id_index',
      `CREATE VIEW parked_messages AS
         SELECT key, event_id, message, sql_state, reason, failed_at AS parked_at FROM dead_letters`,
    ])
      await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

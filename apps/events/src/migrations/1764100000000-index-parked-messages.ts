import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes dead letters (then called parked messages) by the id of their event, for the list and for look-ups of single dead letters. */
export class IndexParkedMessages1764100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // The index is not unique, because no message may be lost when a receiver gives two messages the same id by mistake.
    await queryRunner.query('CREATE INDEX parked_messages_event_id_index ON parked_messages (event_id)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes dead letters (then called parked messages) by event id, for the list and for single dead letters. */
export class IndexParkedMessages1764100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Not unique: a gateway may by mistake give two messages the same id, and neither must be lost.
    await queryRunner.query('CREATE INDEX parked_messages_event_id_index ON parked_messages (event_id)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

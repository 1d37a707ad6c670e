import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Parked messages are listed and found by the id of their event. */
export class IndexParkedMessages1764100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Not unique: should two messages ever come with one id, a fault of their receiver, neither may be lost for it.
    await queryRunner.query('CREATE INDEX parked_messages_event_id_index ON parked_messages (event_id)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

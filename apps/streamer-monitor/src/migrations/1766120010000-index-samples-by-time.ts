import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes samples by time, so that maintenance finds old samples quickly. */
export class IndexSamplesByTime1766120010000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Rows arrive in time order, so a BRIN index finds old rows at almost no cost to inserts.
    await queryRunner.query('CREATE INDEX stream_samples_at_index ON stream_samples USING brin (at)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

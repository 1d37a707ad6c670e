import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes room for more than 2^31 replayed events. Uses `double precision`, which counts exactly up to 2^53. pg returns `bigint` as text, and
 * gateways of version 0.1.0 that run during the upgrade would concatenate numbers instead of adding them.
 */
export class CountReplayedBeyondInteger1769000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE replays ALTER replayed TYPE double precision');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

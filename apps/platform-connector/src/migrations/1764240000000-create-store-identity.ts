import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which platform all that is kept here is about. */
export class CreateStoreIdentity1764240000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE store_identity (
        id boolean NOT NULL DEFAULT true,
        platform text NOT NULL,
        CONSTRAINT store_identity_pkey PRIMARY KEY (id),
        CONSTRAINT store_identity_one_row CHECK (id)
      )`,
    );
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

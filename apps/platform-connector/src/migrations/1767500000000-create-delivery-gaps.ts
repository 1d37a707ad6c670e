import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table for periods in which platform messages may be missing. */
export class CreateDeliveryGaps1767500000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE delivery_gaps (
    id uuid NOT NULL,
    transport text NOT NULL,
    source text NOT NULL,
    from_at timestamptz NOT NULL,
    until_at timestamptz,
    lost integer,
    reason text NOT NULL,
    CONSTRAINT delivery_gaps_pkey PRIMARY KEY (id)
  )`,
  'CREATE INDEX delivery_gaps_from_index ON delivery_gaps (from_at)',
];

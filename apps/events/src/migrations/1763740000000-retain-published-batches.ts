import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Retains recently published batches and their epoch, so that the relay can publish them again after the EVENTS stream loses them. */
export class RetainPublishedBatches1763740000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE published_batches (
    id bigint NOT NULL,
    event_ids uuid[] NOT NULL,
    epoch text NOT NULL,
    last_sequence bigint NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT published_batches_pkey PRIMARY KEY (id)
  )`,
  // Every stream check uses this index to find the highest sequence and the rows of other epochs.
  'CREATE INDEX published_batches_sequence_index ON published_batches (epoch, last_sequence)',

  // The single row exists from the start, so that a check can lock it. The epoch is null until the first stream exists.
  `CREATE TABLE event_stream (
    id boolean NOT NULL DEFAULT true,
    epoch text,
    last_sequence bigint NOT NULL DEFAULT 0,
    CONSTRAINT event_stream_pkey PRIMARY KEY (id),
    CONSTRAINT event_stream_one_row CHECK (id)
  )`,
  'INSERT INTO event_stream DEFAULT VALUES',
];

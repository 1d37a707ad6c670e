import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps recently published batches and their epoch, to publish them again when the EVENTS stream has lost them. */
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
  // New rows are appended at the end of this index. Every check uses the index to find the highest sequence and the rows of another epoch.
  'CREATE INDEX published_batches_sequence_index ON published_batches (epoch, last_sequence)',

  // The table has one row from the start, so that it can be locked. The epoch is null until the first stream exists.
  `CREATE TABLE event_stream (
    id boolean NOT NULL DEFAULT true,
    epoch text,
    last_sequence bigint NOT NULL DEFAULT 0,
    CONSTRAINT event_stream_pkey PRIMARY KEY (id),
    CONSTRAINT event_stream_one_row CHECK (id)
  )`,
  'INSERT INTO event_stream DEFAULT VALUES',
];

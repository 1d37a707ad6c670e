import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was published lately, and which EVENTS stream it went to: for a stream that turns out to have lost it. */
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
  // Rows are appended at its end. It answers what every check asks: the highest sequence, and what has another epoch.
  'CREATE INDEX published_batches_sequence_index ON published_batches (epoch, last_sequence)',

  // One row, there from the beginning so that it can be locked; epoch is null until a stream has been seen.
  `CREATE TABLE event_stream (
    id boolean NOT NULL DEFAULT true,
    epoch text,
    last_sequence bigint NOT NULL DEFAULT 0,
    CONSTRAINT event_stream_pkey PRIMARY KEY (id),
    CONSTRAINT event_stream_one_row CHECK (id)
  )`,
  'INSERT INTO event_stream DEFAULT VALUES',
];

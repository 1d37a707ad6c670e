import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables for saved summaries, and for the changes that outdate them. */
export class CreateStreamSummaries1766300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE stream_summaries (
    stream uuid NOT NULL,
    channel_id text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    kept_from timestamptz,
    changes bigint NOT NULL,
    version integer NOT NULL,
    summary json NOT NULL,
    CONSTRAINT stream_summaries_pkey PRIMARY KEY (stream)
  )`,
  'CREATE INDEX stream_summaries_channel_index ON stream_summaries (channel_id)',
  'CREATE INDEX stream_summaries_ended_index ON stream_summaries (ended_at)',
  `CREATE TABLE channel_changes (
    channel_id text NOT NULL,
    day date NOT NULL,
    changes bigint NOT NULL,
    CONSTRAINT channel_changes_pkey PRIMARY KEY (channel_id, day)
  )`,
  'CREATE INDEX channel_changes_day_index ON channel_changes (day)',
];

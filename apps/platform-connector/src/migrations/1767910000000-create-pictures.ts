import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table for cached pictures. */
export class CreatePictures1767910000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE pictures (
    kind text NOT NULL,
    id text NOT NULL,
    bytes bytea,
    media_type text,
    hash text,
    fetched_at timestamptz NOT NULL,
    used_at timestamptz NOT NULL,
    CONSTRAINT pictures_pkey PRIMARY KEY (kind, id),
    CONSTRAINT pictures_kind_check CHECK (kind IN ('user', 'category')),
    CONSTRAINT pictures_content_check CHECK (
      (bytes IS NULL) = (media_type IS NULL) AND (bytes IS NULL) = (hash IS NULL)
    )
  )`,
  // Keep PostgreSQL from compressing pictures, which are already compressed.
  'ALTER TABLE pictures ALTER COLUMN bytes SET STORAGE EXTERNAL',
];

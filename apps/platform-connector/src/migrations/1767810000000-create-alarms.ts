import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables for alarms, their messages to the alert webhook, and the lease for the alarm checks. */
export class CreateAlarms1767810000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of statements) await queryRunner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

const statements = [
  `CREATE TABLE alarms (
    id uuid NOT NULL,
    key text NOT NULL,
    message text NOT NULL,
    raised_at timestamptz NOT NULL DEFAULT now(),
    -- When a process last reported that the cause exists.
    repeated_at timestamptz NOT NULL DEFAULT now(),
    cleared_at timestamptz,
    CONSTRAINT alarms_pkey PRIMARY KEY (id)
  )`,
  `CREATE UNIQUE INDEX alarms_open_key_unique ON alarms (key) WHERE cleared_at IS NULL`,
  `CREATE INDEX alarms_cleared_at_index ON alarms (cleared_at)`,
  `CREATE TABLE alarm_posts (
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL,
    alarm_id uuid NOT NULL,
    body text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT alarm_posts_pkey PRIMARY KEY (sequence)
  )`,
  `CREATE TABLE alarm_checks (
    id boolean NOT NULL DEFAULT true,
    holder uuid,
    held_until timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT alarm_checks_pkey PRIMARY KEY (id),
    CONSTRAINT alarm_checks_one_row CHECK (id)
  )`,
  `INSERT INTO alarm_checks DEFAULT VALUES`,
];

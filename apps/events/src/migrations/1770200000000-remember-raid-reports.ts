import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of the subscriptions that have reported each raid of the last hour. */
export class RememberRaidReports1770200000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `CREATE TABLE raid_reports (
        event_id uuid NOT NULL,
        subscription text NOT NULL,
        via text NOT NULL,
        reported_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT raid_reports_pkey PRIMARY KEY (event_id, subscription, via)
      )`,
    );
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds indexes for the filters of the audit log. Deletes the data of the login throttle, whose hashes of user names had no key. Failed
 * logins expire within an hour, and addresses become known again at the next login.
 */
export class FilterAuditLog1770400000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX audit_log_action_index ON audit_log (action, id)');
    await queryRunner.query('CREATE INDEX audit_log_user_id_index ON audit_log (user_id, id)');
    for (const table of ['login_failures', 'login_budgets', 'known_logins'])
      await queryRunner.query(`DELETE FROM ${table}`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
  }
}

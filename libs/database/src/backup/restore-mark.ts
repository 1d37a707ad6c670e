import type { SchemaSession } from './backup-session.js';

/**
 * The comment on a schema while a backup is being restored into it, which keeps services from starting on that schema.
 *
 * ```
 *  empty, or with the data to replace ──mark──▶ marked ──empty, migrate, load──▶ complete ──unmark──▶ in use
 *                                                  └ killed: stays marked; the next restore starts over
 * ```
 */
export const restoreMark = 'stream-events: a restore is not complete';

/** @throws Error when a schema contains an incomplete restore */
export async function refuseIncompleteRestores(sessions: readonly SchemaSession[]): Promise<void> {
  for (const { schema, client } of sessions) {
    const { rows } = await client.query<{ comment: string | null }>(
      `SELECT obj_description(to_regnamespace($1), 'pg_namespace') AS comment`,
      [schema],
    );
    refuseIncompleteRestore(schema, rows[0]?.comment ?? null);
  }
}

/** @throws Error when the schema contains an incomplete restore */
export function refuseIncompleteRestore(schema: string, comment: string | null): void {
  if (comment !== restoreMark) return;
  throw new Error(
    `The schema ${schema} holds a part of a backup: a restore is running, or was interrupted. Run npm run restore again with the same backup.`,
  );
}

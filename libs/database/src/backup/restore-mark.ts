import type { SchemaSession } from './backup-session.js';

/**
 * The comment of a schema into which a backup is being restored. Services do not start on such a schema.
 *
 * ```
 *  empty, or with the data to replace ──mark──▶ marked ──empty, migrate, load──▶ complete ──unmark──▶ in use
 *                                                  └ killed: stays marked; the next restore starts over
 * ```
 */
export const restoreMark = 'stream-events: a restore is not complete';

/** @throws Error when one of the schemas contains only a part of a backup */
export async function refuseIncompleteRestores(sessions: readonly SchemaSession[]): Promise<void> {
  for (const { schema, client } of sessions) {
    const { rows } = await client.query<{ comment: string | null }>(
      `SELECT obj_description(to_regnamespace($1), 'pg_namespace') AS comment`,
      [schema],
    );
    refuseIncompleteRestore(schema, rows[0]?.comment ?? null);
  }
}

/** @throws Error when the schema contains only a part of a backup */
export function refuseIncompleteRestore(schema: string, comment: string | null): void {
  if (comment !== restoreMark) return;
  throw new Error(
    `The schema ${schema} holds a part of a backup: a restore is running, or was interrupted. Run npm run restore again with the same backup.`,
  );
}

import pg from 'pg';
import { serviceSchemas, type ServiceRole, type Session } from './service-role.js';

const reader = serviceSchemas.gateway;
const source = serviceSchemas['platform-connector'];
const tables = ['scopes', 'api_endpoints', 'catalogue_seeds'];

/**
 * Lets the gateway read three tables of the platform connector until the gateway's migration has copied them. The next call then revokes
 * the right. Only databases from version 0.1.0 need this.
 *
 * @returns whether the gateway still has to copy the tables, and may therefore read them
 */
export async function allowCatalogueCopy(session: Session, roles: readonly ServiceRole[]): Promise<boolean> {
  const role = roles.find(({ schema }) => schema === reader);
  if (!role) return false;
  const { rows } = await session.query<{ exists: boolean; isCopied: boolean; isAllowed: boolean }>(
    `SELECT count(*) = $2 AS exists, to_regclass('${reader}.applied_seeds') IS NOT NULL AS "isCopied",
       coalesce(bool_or(has_table_privilege($3::name, pg_class.oid, 'SELECT')), false) AS "isAllowed"
     FROM pg_class WHERE relnamespace = to_regnamespace('${source}') AND relname = ANY ($1)`,
    [tables, tables.length, role.name],
  );
  const [state] = rows;
  const isPending = Boolean(state?.exists && !state.isCopied);
  if (isPending || state?.isAllowed) {
    const names = tables.map((table) => `${source}.${table}`).join(', ');
    const name = pg.escapeIdentifier(role.name);
    const [verb, preposition] = isPending ? ['GRANT', 'TO'] : ['REVOKE', 'FROM'];
    await session.query(`${verb} USAGE ON SCHEMA ${source} ${preposition} ${name}`);
    await session.query(`${verb} SELECT ON ${names} ${preposition} ${name}`);
  }
  return isPending;
}

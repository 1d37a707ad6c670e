import pg from 'pg';
import type { ServiceRole, Session } from './service-role.js';

/**
 * Generates statements that give the objects in a schema ($1) to a role ($2), except what the role already owns. Leaves out indexes, row
 * types, and the sequences of columns, which belong to their table, and the objects of extensions, which belong to the extension.
 */
const changesOfOwner = `
  WITH objects (catalog, id, owner, statement) AS (
    SELECT 'pg_class'::regclass, oid, relowner, format('ALTER TABLE %s', oid::regclass) FROM pg_class
    WHERE relnamespace = quote_ident($1)::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
      -- sequences of columns
      AND NOT (relkind = 'S' AND EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype IN ('a', 'i')))
    UNION ALL
    SELECT 'pg_proc'::regclass, oid, proowner, format('ALTER ROUTINE %s', oid::regprocedure) FROM pg_proc
    WHERE pronamespace = quote_ident($1)::regnamespace
    UNION ALL
    SELECT 'pg_type'::regclass, pg_type.oid, typowner, format('ALTER TYPE %s', pg_type.oid::regtype) FROM pg_type
      LEFT JOIN pg_class ON pg_class.oid = typrelid
    WHERE typnamespace = quote_ident($1)::regnamespace AND (typtype IN ('d', 'e') OR relkind = 'c')
    UNION ALL
    SELECT 'pg_statistic_ext'::regclass, oid, stxowner, format('ALTER STATISTICS %I.%I', stxnamespace::regnamespace, stxname)
    FROM pg_statistic_ext WHERE stxnamespace = quote_ident($1)::regnamespace
  )
  SELECT format('%s OWNER TO %I', statement, $2::text) AS statement FROM objects
  WHERE owner <> quote_ident($2)::regrole
    -- parts of extensions
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = catalog AND objid = id AND deptype = 'e')`;

/** Creates the schema if it is missing, and gives the role everything in it. */
export async function giveSchema(session: Session, { name, schema }: ServiceRole): Promise<void> {
  const role = pg.escapeIdentifier(name);
  const { rows } = await session.query<{ isOwner: boolean }>(
    'SELECT nspowner = quote_ident($2)::regrole AS "isOwner" FROM pg_namespace WHERE nspname = $1',
    [schema, name],
  );
  const [found] = rows;
  if (!found) {
    await session.query(`CREATE SCHEMA ${pg.escapeIdentifier(schema)} AUTHORIZATION ${role}`);
    return;
  }
  if (!found.isOwner) await session.query(`ALTER SCHEMA ${pg.escapeIdentifier(schema)} OWNER TO ${role}`);
  const changes = await session.query<{ statement: string }>(changesOfOwner, [schema, name]);
  for (const { statement } of changes.rows) await session.query(statement);
}

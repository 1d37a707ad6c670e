import pg from 'pg';
import { advisoryLocks } from '../advisory-locks.js';
import { PrimaryClient, toPrimary } from '../primary-client.js';
import { giveSchema } from './ownership.js';
import { createScramVerifier } from './scram-verifier.js';
import type { ServiceRole, Session } from './service-role.js';

export interface RolesOptions {
  /** Whether only the services use this database. If so, other roles lose the default rights to connect and to use `public`. */
  isDedicated: boolean;
  /** How long the server may take to accept the connection. Default: 10 s. */
  connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;
// How long a statement may wait for a lock. The statements themselves are fast, because they change only a few catalog rows.
const lockTimeout = '5s';
const queryTimeoutMs = 30_000;
const noAttributes = 'NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
// SQLSTATEs: a lock was not available in time; deadlock.
const lockStates = ['55P03', '40P01'];
const explainLock =
  'Cannot change the owners of the tables: another session is using the tables. End long transactions, stop the services, ' +
  'then try again.';

/**
 * Creates or updates the roles: sets their passwords, and makes each role the owner of its schema and of everything in it. Can run at every
 * start, and in several processes at once. If one step fails, nothing changes.
 *
 * @param url with a superuser, or with a role with CREATEROLE that may create schemas and owns the existing ones; such a role becomes a
 *   member of the roles that it creates
 * @throws when the URL's role lacks the rights for these changes (SQLSTATE 42501), a role is a member of another role or is the URL's own
 * role, or another session locks a table for longer than 5 s
 */
export async function createServiceRoles(
  url: string,
  roles: readonly ServiceRole[],
  options: RolesOptions,
): Promise<void> {
  const client = new PrimaryClient({
    ...toPrimary(url),
    application_name: 'service-roles',
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    query_timeout: queryTimeoutMs,
  });
  try {
    await client.connect();
    await client.query('BEGIN');
    // Take this lock before setting the lock timeout: several other processes may hold it one after another while they change the roles.
    await client.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.serviceRoles]);
    await client.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
    await changeRoles(client, roles, options);
    await client.query('COMMIT');
  } catch (error) {
    if (error instanceof pg.DatabaseError && lockStates.includes(error.code ?? ''))
      throw new Error(explainLock, { cause: error });
    throw error;
  } finally {
    // Ignore the error: the transaction is already committed or has failed.
    await client.end().catch(() => undefined);
  }
}

async function changeRoles(
  session: Session,
  roles: readonly ServiceRole[],
  { isDedicated }: RolesOptions,
): Promise<void> {
  const creator = await readCreator(session);
  const database = pg.escapeIdentifier(creator.database);
  if (isDedicated)
    await session.query(
      `REVOKE ALL ON DATABASE ${database} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC`,
    );
  for (const role of roles) {
    if (role.name === creator.name)
      throw new Error(
        `The role ${role.name} creates the roles of the services, so it cannot be one of them.`,
      );
    await createOrUpdate(session, role);
    const name = pg.escapeIdentifier(role.name);
    if (!(await mayConnect(session, role)))
      await session.query(`GRANT CONNECT ON DATABASE ${database} TO ${name}`);
    // Only members of a role can make it an owner.
    if (!creator.isSuperuser) await session.query(`GRANT ${name} TO CURRENT_USER`);
    await giveSchema(session, role);
  }
}

interface Creator {
  name: string;
  isSuperuser: boolean;
  database: string;
}

async function readCreator(session: Session): Promise<Creator> {
  const { rows } = await session.query<Creator>(
    `SELECT current_user AS name, rolsuper AS "isSuperuser", current_database() AS database
     FROM pg_roles WHERE rolname = current_user`,
  );
  const [creator] = rows;
  if (!creator) throw new Error('PostgreSQL does not know the role of this session.');
  return creator;
}

async function mayConnect(session: Session, { name }: ServiceRole): Promise<boolean> {
  const { rows } = await session.query<{ mayConnect: boolean }>(
    `SELECT has_database_privilege($1, current_database(), 'CONNECT') AS "mayConnect"`,
    [name],
  );
  return rows[0]?.mayConnect ?? false;
}

interface Rights {
  isPrivileged: boolean;
  memberOf: string | null;
}

/** Creates the role or sets its password. From a privileged role, removes attributes such as CREATEROLE, which only a superuser can do. */
async function createOrUpdate(session: Session, { name, password }: ServiceRole): Promise<void> {
  const role = pg.escapeIdentifier(name);
  const verifier = pg.escapeLiteral(await createScramVerifier(password));
  const { rows } = await session.query<Rights>(
    `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS "isPrivileged",
       (SELECT string_agg(pg_get_userbyid(roleid), ', ') FROM pg_auth_members WHERE member = pg_roles.oid) AS "memberOf"
     FROM pg_roles WHERE rolname = $1`,
    [name],
  );
  const [rights] = rows;
  if (rights?.memberOf)
    throw new Error(
      `The database role ${name} has the rights of ${rights.memberOf}. The role of a service must not be a member of another role: ` +
        `run REVOKE ${rights.memberOf} FROM ${name}, or choose another role.`,
    );
  if (!rights) await session.query(`CREATE ROLE ${role} LOGIN ${noAttributes} PASSWORD ${verifier}`);
  else
    await session.query(
      `ALTER ROLE ${role} LOGIN ${rights.isPrivileged ? noAttributes : ''} PASSWORD ${verifier}`,
    );
}

import { stat } from 'node:fs/promises';
import { isRoot } from './operating-system.js';
import { runCommand, type Account, type Log } from './run-command.js';

const ACCOUNT_NAME = 'postgres';
const COMMAND_TIMEOUT_MS = 30_000;

/**
 * Chooses the user for PostgreSQL, which refuses to run as root. Returns undefined for an ordinary user, because PostgreSQL then runs as
 * that user. For root, returns the owner of existing data. Without data, returns the system user "postgres", and creates it if missing.
 */
export async function choosePostgresAccount(dataDirectory: string, log: Log): Promise<Account | undefined> {
  if (!isRoot()) return undefined;
  // The data is missing or unreadable. If it is unreadable, PostgreSQL reports the error at startup.
  const data = await stat(dataDirectory).catch(() => undefined);
  if (data && data.uid !== 0) return { name: `uid ${data.uid}`, uid: data.uid, gid: data.gid };
  return (await findAccount()) ?? (await createAccount(log));
}

async function findAccount(): Promise<Account | undefined> {
  const options = { timeoutMs: COMMAND_TIMEOUT_MS };
  const [uid, gid] = await Promise.all([
    runCommand('id', ['-u', ACCOUNT_NAME], options),
    runCommand('id', ['-g', ACCOUNT_NAME], options),
  ]);
  if (!uid.succeeded || !gid.succeeded) return undefined;
  return { name: ACCOUNT_NAME, uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

async function createAccount(log: Log): Promise<Account> {
  log(`PostgreSQL: creating the system user "${ACCOUNT_NAME}", because PostgreSQL does not run as root`);
  const options = { timeoutMs: COMMAND_TIMEOUT_MS };
  // Fails if the group exists. useradd reports any real problem.
  await runCommand('groupadd', ['--system', ACCOUNT_NAME], options);
  const args = ['--system', '--gid', ACCOUNT_NAME, '--no-create-home', '--home-dir', '/nonexistent'];
  const created = await runCommand('useradd', [...args, '--shell', '/bin/false', ACCOUNT_NAME], options);
  // Ignore the exit code: another process may have created the user at the same time.
  const account = await findAccount();
  if (account) return account;
  throw new Error(
    `PostgreSQL does not run as root, and creating the user "${ACCOUNT_NAME}" failed: ${created.output}\n` +
      'Create this user, or start as an ordinary user.',
  );
}

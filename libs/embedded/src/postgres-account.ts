import { stat } from 'node:fs/promises';
import { runCommand, type Account, type Log } from './run-command.js';

const ACCOUNT_NAME = 'postgres';
const COMMAND_TIMEOUT_MS = 30_000;

/**
 * As whom PostgreSQL, which refuses to run as root, has to run: as ourselves (undefined) for an ordinary user;
 * for root, as the owner of the data when there is some, else as the system's user "postgres", created when
 * missing.
 */
export async function choosePostgresAccount(dataDirectory: string, log: Log): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
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
  log(`PostgreSQL does not run as root: creating the system user "${ACCOUNT_NAME}" for it.`);
  const options = { timeoutMs: COMMAND_TIMEOUT_MS };
  // The group may be there already; useradd says whether that was a problem.
  await runCommand('groupadd', ['--system', ACCOUNT_NAME], options);
  const args = ['--system', '--gid', ACCOUNT_NAME, '--no-create-home', '--home-dir', '/nonexistent'];
  const created = await runCommand('useradd', [...args, '--shell', '/bin/false', ACCOUNT_NAME], options);
  // Another start may have created it at the same moment, so the account itself decides.
  const account = await findAccount();
  if (account) return account;
  throw new Error(
    `PostgreSQL does not run as root, and the user "${ACCOUNT_NAME}" could not be created: ${created.output}\n` +
      'Create it by hand, or start as an ordinary user.',
  );
}

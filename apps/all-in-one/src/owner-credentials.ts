import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shellOf } from './shell.js';

/** An owner's credentials. They are shown only once, and the service can never show the password again. */
export interface OwnerCredentials {
  username: string;
  /** Undefined if OWNER_PASSWORD was set. */
  password: string | undefined;
  token: string;
}

/** Tells an owner the credentials or where to find them. */
export interface CredentialsNotice {
  /** Lines to print. */
  lines: string[];
  /** Value for a shell variable: the token, or a command that prints it. */
  shellToken: string;
}

/**
 * Prints the credentials on a terminal. Other output can end up in a log, so the credentials go to a file in the data folder instead. The
 * notice names the file, which only the current user can read.
 */
export async function presentCredentials(
  owner: OwnerCredentials,
  directory: string,
  isTerminal = process.stdout.isTTY,
): Promise<CredentialsNotice> {
  const credentials = [
    `user      ${owner.username}`,
    ...(owner.password === undefined ? [] : [`password  ${owner.password}`]),
    `token     ${owner.token}`,
  ];
  if (isTerminal) {
    const lines = ['These credentials are shown only this once:', ...credentials.map((line) => `  ${line}`)];
    return { lines, shellToken: owner.token };
  }
  const path = join(directory, 'owner-credentials');
  await writeCredentials(path, credentials);
  return {
    lines: [
      'The credentials are in this file, which only you can read. Store them safely, then delete it:',
      `  ${path}`,
    ],
    shellToken: shellOf(process.platform).readField(path, 'token'),
  };
}

async function writeCredentials(path: string, credentials: readonly string[]): Promise<void> {
  const header = `# Written at ${new Date().toISOString()}. This file does not contain later changes to the password or the token.`;
  // Delete the file of an earlier owner first: the new file must not inherit its permissions or follow a link.
  await rm(path, { force: true });
  await writeFile(path, `${[header, ...credentials].join('\n')}\n`, { flag: 'wx', mode: 0o600, flush: true });
}

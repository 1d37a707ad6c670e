import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shellOf } from './shell.js';

/**
 * The credentials of an owner. They are presented only once, because afterwards the service can show neither the password nor the token.
 */
export interface OwnerCredentials {
  username: string;
  /** Undefined when OWNER_PASSWORD was given. */
  password: string | undefined;
  token: string;
}

/** The notice from which an owner gets the credentials. */
export interface CredentialsNotice {
  /** Lines to print. */
  lines: string[];
  /** The value of a shell variable for the token: the token itself, or a shell command that prints the token. */
  shellToken: string;
}

/**
 * Presents credentials. A terminal shows them. Any other output may end in a log, so the credentials go to a file in the data folder
 * that only the current user can read, and the notice names this file.
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
  // Delete an earlier owner's file, so that the new file neither inherits the old permissions nor follows a link.
  await rm(path, { force: true });
  await writeFile(path, `${[header, ...credentials].join('\n')}\n`, { flag: 'wx', mode: 0o600, flush: true });
}

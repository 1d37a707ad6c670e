import { join } from 'node:path';
import { DirectoryLockedError, lockDirectory, startEmbeddedPostgres } from '@stream-events/embedded';
import { resetOwner } from '@stream-events/gateway';
import { readConfig, type AllInOneConfig } from './all-in-one.config.js';
import { keepSecret } from './kept-secret.js';
import { dataDirectory } from './servers.js';

/** Restores access for an owner who lost the password: sets a new one and prints it once. */
export async function runOwnerReset(): Promise<void> {
  try {
    const owner = await reset(readConfig(process.env));
    const lines = [
      'The owner has a new password. These credentials are shown only this once:',
      `  user      ${owner.username}`,
      `  password  ${owner.password}`,
      `  token     ${owner.token}`,
    ];
    process.stdout.write(`\n${lines.join('\n')}\n\n`);
  } catch (error) {
    process.stderr.write(`\nCannot reset the owner: ${explain(error)}\n`);
    process.exitCode = 1;
  }
}

async function reset(config: AllInOneConfig): ReturnType<typeof resetOwner> {
  const directory = dataDirectory(config);
  const keys = async (): Promise<string[]> =>
    config.SECRET_KEY ?? [await keepSecret(join(directory, 'secret-key'))];
  if (config.DATABASE_URL) return resetOwner(config.DATABASE_URL, await keys());
  const lock = await lockDirectory(directory);
  try {
    const postgres = await startEmbeddedPostgres({
      directory,
      log: (line) => process.stdout.write(`  ${line}\n`),
    });
    try {
      return await resetOwner(postgres.url, await keys());
    } finally {
      await postgres.stop();
    }
  } finally {
    await lock.release();
  }
}

function explain(error: unknown): string {
  if (error instanceof DirectoryLockedError)
    return 'npm start is running on this data. Stop it with Ctrl-C first.';
  return error instanceof Error ? error.message : String(error);
}

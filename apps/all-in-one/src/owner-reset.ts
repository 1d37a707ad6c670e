import { DirectoryLockedError, lockDirectory, startEmbeddedPostgres } from '@stream-events/embedded';
import { resetOwner } from '@stream-events/gateway';
import { usesOwnDatabase, type AllInOneConfig } from './all-in-one.config.js';
import { readCommandConfig } from './command-config.js';
import { prepareEmbeddedDatabase, prepareOwnDatabase, type Databases } from './databases.js';
import { keepSecret } from './kept-secret.js';
import { presentCredentials } from './owner-credentials.js';
import { createDataDirectory, secretKeyPath } from './servers.js';

/** For an owner who lost the password: sets a new one and presents it once. */
export async function runOwnerReset(): Promise<void> {
  try {
    const config = await readCommandConfig(process.env);
    const directory = await createDataDirectory(config);
    const { lines } = await presentCredentials(await reset(config, directory), directory);
    process.stdout.write(`\n${['The owner has new credentials.', ...lines].join('\n')}\n\n`);
  } catch (error) {
    process.stderr.write(`\nCannot reset the owner: ${explain(error)}\n`);
    process.exitCode = 1;
  }
}

async function reset(config: AllInOneConfig, directory: string): ReturnType<typeof resetOwner> {
  const keys = async (): Promise<string[]> =>
    config.SECRET_KEY ?? (await keepSecret(secretKeyPath(directory))).split(',');
  const say = (line: string): void => void process.stdout.write(`  ${line}\n`);
  const resetIn = async (databases: Databases): ReturnType<typeof resetOwner> =>
    resetOwner(databases.urlFor('gateway'), await keys());
  if (usesOwnDatabase(config)) return resetIn(await prepareOwnDatabase(config, say));
  const lock = await lockDirectory(directory);
  try {
    const postgres = await startEmbeddedPostgres({ directory, log: say });
    try {
      return await resetIn(await prepareEmbeddedDatabase(postgres.url, directory));
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

import { randomBytes } from 'node:crypto';
import { DirectoryLockedError, lockDirectory, startEmbeddedPostgres } from '@stream-events/embedded';
import { reencryptEvents } from '@stream-events/events';
import { reencryptGateway } from '@stream-events/gateway';
import { reencryptPlatformConnector } from '@stream-events/platform-connector';
import { createLogger } from '@stream-events/service';
import { readConfig, type AllInOneConfig } from './all-in-one.config.js';
import { prepareEmbeddedDatabase } from './databases.js';
import { keepSecret, replaceSecret } from './kept-secret.js';
import { createDataDirectory, secretKeyPath, subscriberPasswordPath } from './servers.js';
import { addWebhookSecret, endWebhookSecret } from './webhook-secret.js';

const usage = `Usage: npm run secrets -- rotate              a new SECRET_KEY; encrypts everything with it
       npm run secrets -- rotate-subscriber   a new password for the NATS user subscriber
       npm run secrets -- add-webhook-secret  a new webhook secret beside the old one
       npm run secrets -- end-webhook-secret  only the new webhook secret

Stop npm start before the first two. All use DATA_DIR and PLATFORM like npm start. docs/security.md describes each rotation.`;

const say = (line: string): void => void process.stdout.write(`  ${line}\n`);

/** Replaces a secret of the data folder. `npm run secrets` calls this while `npm start` does not run. */
export async function runSecrets(command: string | undefined): Promise<void> {
  const commands = new Map([
    ['rotate', whileStopped(rotateSecretKey)],
    ['rotate-subscriber', whileStopped(rotateSubscriber)],
    ['add-webhook-secret', changeWebhookSecret(addWebhookSecret)],
    ['end-webhook-secret', changeWebhookSecret(endWebhookSecret)],
  ]);
  const run = commands.get(command ?? '');
  if (!run) {
    process.stderr.write(`${usage}\n`);
    process.exitCode = 2;
    return;
  }
  try {
    const config = readConfig(process.env);
    await run(config, await createDataDirectory(config));
  } catch (error) {
    process.stderr.write(`\nCannot rotate the secret: ${explain(error)}\n`);
    process.exitCode = 1;
  }
}

type Command = (config: AllInOneConfig, directory: string) => Promise<void>;

function whileStopped(run: Command): Command {
  return async (config, directory) => {
    const lock = await lockDirectory(directory);
    try {
      await run(config, directory);
    } finally {
      await lock.release();
    }
  };
}

/** A running `npm start` reads the file at its next start only, so it need not be stopped. */
function changeWebhookSecret(change: (directory: string) => Promise<string>): Command {
  return async (config, directory) => {
    if (config.PLATFORM_WEBHOOK_SECRET.length > 0)
      throw new Error('PLATFORM_WEBHOOK_SECRET is set: change the secret there');
    say(await change(directory));
  };
}

/**
 * Writes `new,old` to the file of the key, moves every value to the new key, and then removes the old one. After a crash, the next run
 * continues with the new key that is already in the file, and `npm start` works in between.
 */
async function rotateSecretKey(config: AllInOneConfig, directory: string): Promise<void> {
  if (config.SECRET_KEY)
    throw new Error(
      'SECRET_KEY is set, so its value is yours to change: see "Rotate SECRET_KEY" in docs/security.md',
    );
  const path = secretKeyPath(directory);
  const present = (await keepSecret(path)).split(',');
  const keys = present.length > 1 ? present : [randomBytes(32).toString('hex'), ...present];
  await replaceSecret(path, keys.join(','));
  say(present.length > 1 ? 'Continuing an earlier rotation of SECRET_KEY' : 'Generated a new SECRET_KEY');
  const postgres = await startEmbeddedPostgres({ directory, log: say });
  try {
    const logger = createLogger('secrets', 'warn');
    const databases = await prepareEmbeddedDatabase(postgres.url, directory);
    const count = await reencryptGateway(databases.urlFor('gateway'), keys, logger);
    say(`Gateway: ${count} values encrypted with the new key`);
    say(`Events service: ${await reencryptEvents(databases.urlFor('events'), keys, logger)} values`);
    const platformValues = await reencryptPlatformConnector(
      databases.urlFor('platform-connector'),
      keys,
      logger,
    );
    say(`Platform connector: ${platformValues} values`);
    await databases.finishMigrations();
  } finally {
    await postgres.stop();
  }
  await replaceSecret(path, keys[0] ?? '');
  say('Removed the old key. Tokens and hashes stay valid. Backups from before now need the old key.');
}

async function rotateSubscriber(config: AllInOneConfig): Promise<void> {
  if (config.NATS_URL) throw new Error('NATS_URL is set: change the password at your own nats-server');
  const path = subscriberPasswordPath(config);
  await replaceSecret(path, randomBytes(32).toString('hex'));
  say(`The user subscriber has a new password from the next start on: ${path}`);
}

function explain(error: unknown): string {
  if (error instanceof DirectoryLockedError)
    return 'npm start is running on this data. Stop it with Ctrl-C first.';
  return error instanceof Error ? error.message : String(error);
}

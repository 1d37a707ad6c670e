import { randomBytes } from 'node:crypto';
import { DirectoryLockedError, lockDirectory, startEmbeddedPostgres } from '@stream-events/embedded';
import { reencryptEvents } from '@stream-events/events';
import { reencryptGateway } from '@stream-events/gateway';
import { reencryptPlatformConnector } from '@stream-events/platform-connector';
import { createLogger } from '@stream-events/service';
import type { AllInOneConfig } from './all-in-one.config.js';
import { readCommandConfig } from './command-config.js';
import { prepareEmbeddedDatabase } from './databases.js';
import { keepSecret, replaceSecret } from './kept-secret.js';
import { createDataDirectory, secretKeyPath, subscriberPasswordPath } from './servers.js';
import { addWebhookSecret, endWebhookSecret } from './webhook-secret.js';

const usage = `Usage: npm run secrets -- rotate              generates a SECRET_KEY, and encrypts all values with this key
       npm run secrets -- rotate-subscriber   generates a password for the NATS user subscriber
       npm run secrets -- add-webhook-secret  adds a new webhook secret, and keeps the old one
       npm run secrets -- end-webhook-secret  removes the old webhook secret

Stop npm start before the first two commands. All commands use DATA_DIR and PLATFORM like npm start. docs/security.md describes each rotation.`;

const say = (line: string): void => void process.stdout.write(`  ${line}\n`);

/** The command `npm run secrets`: replaces a secret in the data folder. */
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
    const config = await readCommandConfig(process.env);
    await run(config, await createDataDirectory(config));
  } catch (error) {
    process.stderr.write(`\nnpm run secrets -- ${command} failed: ${explain(error)}\n`);
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

/** The command also works while `npm start` runs, because `npm start` reads the webhook secrets only when it starts. */
function changeWebhookSecret(change: (directory: string) => Promise<string>): Command {
  return async (config, directory) => {
    if (config.PLATFORM_WEBHOOK_SECRET.length > 0)
      throw new Error('PLATFORM_WEBHOOK_SECRET is set. Change the secret in this variable');
    say(await change(directory));
  };
}

/**
 * Writes `new,old` to the key file, re-encrypts every value with the new key, and removes the old key. `npm start` works with both keys, so
 * a crash does no harm: the next run continues with the new key in the file.
 */
async function rotateSecretKey(config: AllInOneConfig, directory: string): Promise<void> {
  if (config.SECRET_KEY)
    throw new Error(
      'SECRET_KEY is set as a variable. Rotate the key in this variable: see "Rotate SECRET_KEY" in docs/security.md',
    );
  const path = secretKeyPath(directory);
  const present = (await keepSecret(path)).split(',');
  const keys = present.length > 1 ? present : [randomBytes(32).toString('hex'), ...present];
  await replaceSecret(path, keys.join(','));
  say(
    present.length > 1
      ? `${path} has several keys: encrypting everything with the first one. For a new key, run this command again`
      : 'Generated a new SECRET_KEY',
  );
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
  } finally {
    await postgres.stop();
  }
  await replaceSecret(path, keys[0] ?? '');
  say('Removed the old key. Tokens and hashes stay valid. Earlier backups need the old key.');
}

async function rotateSubscriber(config: AllInOneConfig): Promise<void> {
  if (config.NATS_URL) throw new Error('NATS_URL is set: change the password at your own nats-server');
  const path = subscriberPasswordPath(config);
  await replaceSecret(path, randomBytes(32).toString('hex'));
  say(`The NATS user subscriber gets a new password at the next start. The password is in ${path}`);
}

function explain(error: unknown): string {
  if (error instanceof DirectoryLockedError)
    return 'npm start is running on this data. Stop it with Ctrl-C first.';
  return error instanceof Error ? error.message : String(error);
}

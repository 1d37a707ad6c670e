import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceSecret } from './kept-secret.js';

/** File with the webhook secrets of `npm start`, separated by commas. */
export function webhookSecretPath(directory: string): string {
  return join(directory, 'webhook-secret');
}

/**
 * Puts a new secret before the old one. Returns instructions for the operator.
 * @throws Error if there are already two secrets
 */
export async function addWebhookSecret(directory: string): Promise<string> {
  const [first = '', ...others] = await readSecrets(directory);
  if (others.length > 0)
    throw new Error(
      'a change of the webhook secret is under way. Finish the change with: npm run secrets -- end-webhook-secret',
    );
  await replaceSecret(webhookSecretPath(directory), [randomBytes(32).toString('hex'), first].join(','));
  return 'Added a new webhook secret. Restart the service, and wait until `webhook_secret` in GET /api/v1/platform/status has `can_remove_others: true`. Then run: npm run secrets -- end-webhook-secret';
}

/**
 * Removes the old secret. Returns instructions for the operator.
 *
 * @throws Error if there is only one secret
 */
export async function endWebhookSecret(directory: string): Promise<string> {
  const [first = '', ...others] = await readSecrets(directory);
  if (others.length === 0)
    throw new Error(
      'there is only one webhook secret. Add a new secret with: npm run secrets -- add-webhook-secret',
    );
  await replaceSecret(webhookSecretPath(directory), first);
  return 'Removed the old webhook secret. Restart the service.';
}

async function readSecrets(directory: string): Promise<string[]> {
  const path = webhookSecretPath(directory);
  try {
    return (await readFile(path, 'utf8')).trim().split(',');
  } catch (cause) {
    throw new Error(`cannot read ${path}. Run npm start first to create a webhook secret`, { cause });
  }
}

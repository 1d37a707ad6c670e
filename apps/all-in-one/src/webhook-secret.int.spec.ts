import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addWebhookSecret, endWebhookSecret, webhookSecretPath } from './webhook-secret.js';

describe('the webhook secret of npm start', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'webhook-secret-'));
  });

  afterEach(() => rm(directory, { recursive: true }));

  const read = async (): Promise<string[]> =>
    (await readFile(webhookSecretPath(directory), 'utf8')).split(',');

  it('adds a new secret before the old one, then removes the old one', async () => {
    await expect(addWebhookSecret(directory)).rejects.toThrow('Run npm start first');
    await writeFile(webhookSecretPath(directory), `${'0'.repeat(64)}\n`, { mode: 0o600 });
    await expect(endWebhookSecret(directory)).rejects.toThrow('there is only one webhook secret');

    expect(await addWebhookSecret(directory)).toContain('can_remove_others');
    const [added, ...others] = await read();
    expect(others).toEqual(['0'.repeat(64)]);
    expect(added).toMatch(/^[0-9a-f]{64}$/);
    await expect(addWebhookSecret(directory)).rejects.toThrow('a change of the webhook secret is under way');

    await endWebhookSecret(directory);
    expect(await read()).toEqual([added]);
    expect((await stat(webhookSecretPath(directory))).mode & 0o777).toBe(0o600);
  });
});

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createGuardedDirectory, type GuardedDirectory } from '@stream-events/testing';
import { readCommandConfig } from './command-config.js';

let directory: GuardedDirectory;

beforeEach(async () => {
  directory = await createGuardedDirectory();
});
afterEach(() => directory.remove());

async function read(environment: NodeJS.ProcessEnv, folders: readonly string[]): Promise<string> {
  for (const name of folders) await mkdir(join(directory.path, name));
  return (await readCommandConfig({ DATA_DIR: directory.path, ...environment })).PLATFORM;
}

describe(readCommandConfig.name, () => {
  it.each([
    ['the simulator, when there is no data', {}, [], 'simulator'],
    ['the simulator, when there is only its data', {}, ['simulator'], 'simulator'],
    ['the given platform', { PLATFORM: 'twitch' }, ['simulator', 'twitch'], 'twitch'],
    ['the given simulator', { PLATFORM: 'simulator' }, ['simulator', 'twitch'], 'simulator'],
  ])('chooses %s', async (_, environment, folders, platform) => {
    expect(await read(environment, folders)).toBe(platform);
  });

  it.each([
    [['twitch'], 'PLATFORM=twitch'],
    [['simulator', 'twitch'], 'PLATFORM=simulator and PLATFORM=twitch'],
  ])('refuses to guess when the folder contains data of %j', async (folders, found) => {
    await expect(read({}, folders)).rejects.toThrow(`contains data of ${found}`);
  });

  it('does not look at the folder when the operator has a database', async () => {
    const environment = { DATABASE_URL: 'postgres://127.0.0.1:1/none', SECRET_KEY: 'k'.repeat(64) };
    expect(await read(environment, ['twitch'])).toBe('simulator');
  });
});

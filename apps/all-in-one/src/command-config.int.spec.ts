import { jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createGuardedDirectory, type GuardedDirectory } from '@stream-events/testing';
import { readCommandConfig } from './command-config.js';

// Some tests start a process that loads the whole program.
jest.setTimeout(150_000);

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

  it.each([
    ['npm run backup', 'backup/run-backup.js', "runBackup(['backup.tar.gz'])"],
    ['npm run secrets', 'secrets.js', "runSecrets('rotate')"],
    ['npm run owner:reset', 'owner-reset.js', 'runOwnerReset()'],
  ])('stops %s, which changes nothing', async (_, module, call) => {
    await mkdir(join(directory.path, 'twitch'));
    const code = `import * as command from '${resolve('apps/all-in-one/dist', module)}'; await command.${call};`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
      env: { PATH: process.env.PATH, DATA_DIR: directory.path },
    });

    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('PLATFORM is required') as string,
    });
    expect(await readdir(directory.path)).toEqual(['twitch']);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryLockedError, lockDirectory } from './directory-lock.js';
import { identifyProcess } from './running-process.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'directory-lock-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function lockManyTimes(count: number): Promise<{ won: number; refused: number }> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => lockDirectory(directory)));
  const refusals = outcomes.filter(
    (outcome) => outcome.status === 'rejected' && outcome.reason instanceof DirectoryLockedError,
  );
  return { won: outcomes.filter(({ status }) => status === 'fulfilled').length, refused: refusals.length };
}

async function pidOfEndedProcess(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  if (child.pid === undefined) throw new Error('"true" did not start');
  return child.pid;
}

describe(lockDirectory.name, () => {
  it('rejects a second lock and names the pid of the holder', async () => {
    await lockDirectory(directory);

    await expect(lockDirectory(directory)).rejects.toThrow(`Process ${process.pid} is using the data`);
  });

  it('can be locked again after a release, and leaves one file behind', async () => {
    await (await lockDirectory(directory)).release();
    await (await lockDirectory(directory)).release();

    expect(await readdir(directory)).toEqual(['lock.2']);
  });

  it('still refuses after an old lock is released a second time', async () => {
    const old = await lockDirectory(directory);
    await old.release();
    await lockDirectory(directory);
    await old.release();

    await expect(lockDirectory(directory)).rejects.toThrow(DirectoryLockedError);
  });

  it('takes over when the holder has ended', async () => {
    const pid = await pidOfEndedProcess();
    await writeFile(join(directory, 'lock.7'), JSON.stringify({ pid, startedAt: 'boot:1' }));

    await lockDirectory(directory);

    expect(await readdir(directory)).toEqual(['lock.8']);
  });

  it('takes over when another program got the pid of the holder', async () => {
    const self = await identifyProcess(process.pid);
    await writeFile(join(directory, 'lock.1'), JSON.stringify({ ...self, startedAt: 'boot:1' }));

    await expect(lockDirectory(directory)).resolves.toBeDefined();
  });

  it('lets exactly one of many win', async () => {
    expect(await lockManyTimes(20)).toEqual({ won: 1, refused: 19 });
  });

  it('lets exactly one of many take over a stale lock', async () => {
    const pid = await pidOfEndedProcess();
    await writeFile(join(directory, 'lock.3'), JSON.stringify({ pid, startedAt: 'boot:1' }));

    expect(await lockManyTimes(20)).toEqual({ won: 1, refused: 19 });
  });
});

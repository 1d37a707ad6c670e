import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGuardedDirectory, type GuardedDirectory } from '@stream-events/testing';

const tools = join(import.meta.dirname, '../../../tools');

/** Stands in for npm: notes when an installation starts and ends, and takes half a second. */
const npm = `
  import { appendFileSync, mkdirSync } from 'node:fs';
  appendFileSync('installations', 'start ');
  await new Promise((resolve) => setTimeout(resolve, 500));
  mkdirSync('node_modules', { recursive: true });
  appendFileSync('installations', 'end ');
`;

describe('npm commands that run at the same time', () => {
  let directory: GuardedDirectory;

  beforeEach(async () => {
    directory = await createGuardedDirectory();
    await cp(tools, join(directory.path, 'tools'), { recursive: true });
    await writeFile(join(directory.path, 'package-lock.json'), '{}');
    await writeFile(join(directory.path, 'package.json'), '{ "type": "module" }');
    await writeFile(join(directory.path, 'npm-cli.js'), npm);
  });
  afterEach(() => directory.remove());

  /** Does the first step of every npm script. Returns what the script prints. */
  const install = async (): Promise<string> => {
    const script = "import('./tools/prepare.mjs').then(({ install }) => install())";
    const options = {
      cwd: directory.path,
      env: { ...process.env, npm_execpath: join(directory.path, 'npm-cli.js') },
    };
    return (await promisify(execFile)(process.execPath, ['-e', script], options)).stdout;
  };

  const readInstallations = (): Promise<string> => readFile(join(directory.path, 'installations'), 'utf8');

  it('install the packages once, one after the other', async () => {
    const outputs = await Promise.all([install(), install(), install()]);
    expect(await readInstallations()).toBe('start end ');
    expect(outputs.filter((output) => output.includes('Packages: installing'))).toHaveLength(1);
    expect(outputs.join('')).toMatch(/Waiting for process \d+, which installs packages or builds here/);
  });

  it('do not wait for a process that has died', async () => {
    const { pid } = await new Promise<{ pid: number | undefined }>((resolve) => {
      const child = execFile(process.execPath, ['-e', ''], () => resolve({ pid: child.pid }));
    });
    await mkdir(join(directory.path, '.nx'));
    await writeFile(join(directory.path, '.nx/prepare.lock'), String(pid));
    expect(await install()).not.toContain('Waiting');
    expect(await readInstallations()).toBe('start end ');
  });
});

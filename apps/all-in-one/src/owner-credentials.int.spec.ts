import { execFileSync } from 'node:child_process';
import { lstat, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { presentCredentials } from './owner-credentials.js';

const owner = { username: 'admin', password: 'a password', token: 'f00d' };
const all = /user +admin\n *password +a password\n *token +f00d\n?$/;

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'owner-credentials-'));
  path = join(directory, 'owner-credentials');
});
afterEach(() => rm(directory, { recursive: true }));

describe(presentCredentials.name, () => {
  it('shows the credentials on a terminal, and writes no file', async () => {
    const { lines, shellToken } = await presentCredentials(owner, directory, true);
    expect(lines.join('\n')).toMatch(all);
    expect(shellToken).toBe('f00d');
    expect(await readdir(directory)).toEqual([]);
  });

  it('omits a password that the operator chose', async () => {
    const { lines } = await presentCredentials({ ...owner, password: undefined }, directory, true);
    expect(lines.join('\n')).not.toContain('password');
  });

  it('otherwise writes them to a file that only the current user can read, and shows its path', async () => {
    const before = Date.now();
    const { lines, shellToken } = await presentCredentials(owner, directory, false);
    expect(lines.join('\n')).toContain(path);
    expect(lines.join('\n') + shellToken).not.toMatch(/a password|f00d/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, 'utf8');
    expect(text).toMatch(all);
    const [, written = ''] = /^# Written at (\S+)\. /.exec(text) ?? [];
    expect(Date.parse(written)).toBeGreaterThanOrEqual(before);
    expect(execFileSync('/bin/sh', ['-c', `TOKEN=${shellToken}; echo "$TOKEN"`]).toString()).toBe('f00d\n');
  });

  it('replaces a stale file, whatever its permissions, and follows no link', async () => {
    await writeFile(path, 'stale', { mode: 0o666 });
    await presentCredentials(owner, directory, false);
    expect((await stat(path)).mode & 0o777).toBe(0o600);

    const other = join(directory, 'other');
    await writeFile(other, 'untouched');
    await rm(path);
    await symlink(other, path);
    await presentCredentials(owner, directory, false);
    expect(await readFile(other, 'utf8')).toBe('untouched');
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readFile(path, 'utf8')).toMatch(all);
  });
});

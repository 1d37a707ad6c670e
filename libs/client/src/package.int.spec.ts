import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '@stream-events/testing';
import { eventBlock, positionOf, StreamServer } from '../test/stream-server.js';

const library = resolve('libs/client');

describe('the package', () => {
  it('imports nothing but what it declares: nothing of Node, nothing of ours', async () => {
    const { dependencies } = JSON.parse(await readFile(join(library, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const files = (await readdir(join(library, 'dist'))).filter((name) => /\.(js|d\.ts)$/.test(name));
    expect(files).toContain('index.js');
    expect(files).toContain('index.d.ts');
    const texts = await Promise.all(files.map((name) => readFile(join(library, 'dist', name), 'utf8')));
    const imports = texts.flatMap((text) => [
      ...text.matchAll(/(?:from|import\(?)\s*["']([^"'.][^"']*)["']/g),
    ]);
    expect(new Set(imports.map(([, name]) => name))).toEqual(new Set(Object.keys(dependencies)));
  });
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

  /** Runs an example as a reader of the README does: on the package as it is built. */
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

  it('bot.mjs answers to events', async () => {
    run('bot.mjs');
    const expected = 'Welcome, raiders of Mira!\nThank you for following, Tom!\n';
    await eventually(() => expect(output).toBe(expected));
    expect(server.connections[0]!.request.headers.authorization).toBe('Token a-token');
  });

  it('resume.mjs goes on where it was when it ended', async () => {
    run('resume.mjs');
    const position = (): Promise<string> => readFile(join(directory, 'position'), 'utf8');
    await eventually(async () => expect(await position()).toBe(positionOf(2)));
    const closed = once(child, 'close'); // by then all that it wrote has been read
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    expect(output.split('\n')).toHaveLength(3);
    run('resume.mjs');
    await eventually(() =>
      expect(server.connections.map(({ after }) => after)).toEqual([undefined, positionOf(2)]),
    );
  });
});

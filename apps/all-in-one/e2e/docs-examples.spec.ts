import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const runFile = promisify(execFile);
// Test limit. Compiling takes some seconds on an idle machine, and a minute or more while other test files keep the cores busy.
const compileLimitMs = 300_000;

/** Returns the text of the sections with these headings. */
async function readSections(page: string, headings: readonly string[]): Promise<string> {
  const sections = (await readFile(resolve('docs', page), 'utf8')).split(/^(?=## )/m);
  const found = sections.filter((section) =>
    headings.some((heading) => section.startsWith(`## ${heading}\n`)),
  );
  expect(found).toHaveLength(headings.length);
  return found.join('');
}

/** Returns the packages in the page's `npm install` commands. */
function findPackages(text: string): string[] {
  const commands = [...text.matchAll(/`npm install ([^`]+)`/g)].map(([, names = '']) => names);
  return commands.flatMap((names) => names.split(' ')).filter((name) => !name.startsWith('--'));
}

/** Creates the project that a reader of the page would have: its files and packages. Returns the file names. */
async function makeProject(directory: string, text: string): Promise<string[]> {
  const files = [...text.matchAll(/```ts\n\/\/ (\S+\.ts)\n([^]*?)```/g)].map(([, name = '', code = '']) => [
    name,
    code,
  ]);
  for (const [name, code] of files) await writeFile(join(directory, name!), code!);
  await writeFile(join(directory, 'package.json'), '{"type": "module"}');
  for (const name of findPackages(text)) {
    const link = join(directory, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    // The compiler resolves the link, so it finds the package's dependencies but nothing else of this repository.
    await symlink(resolve('node_modules', name), link);
  }
  return files.map(([name]) => name!);
}

describe('the TypeScript examples of the docs', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'docs-examples-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it.each([
    ['live.md', ['WebSocket', 'An event in TypeScript'], ['event-record.ts', 'web-socket.ts']],
    ['live.md', ['Server-sent events', 'An event in TypeScript'], ['event-record.ts', 'server-sent.ts']],
    ['events.md', ['TypeScript'], ['event-record.ts', 'follow-durably.ts', 'follow-live.ts', 'main.ts']],
    ['events.md', ['TypeScript', 'Nest'], ['raids.consumer.ts', 'raids.module.ts', 'raids.service.ts']],
  ])(
    '%s: %j compiles with the packages that the page names',
    async (page, headings, expected) => {
      const text = await readSections(page, headings);
      const files = await makeProject(directory, text);
      expect(files).toEqual(expect.arrayContaining(expected));
      const [, options = ''] = /npx tsc ([^`]+) \*\.ts/.exec(text) ?? [];
      expect(options).toContain('--strict');
      const more = [...text.matchAll(/`(experimentalDecorators|emitDecoratorMetadata)`/g)].map(
        ([, name]) => `--${name}`,
      );
      const tsc = resolve('node_modules/typescript/bin/tsc');
      const args = [tsc, ...options.split(' '), ...more, '--noEmit', '--skipLibCheck', ...files];
      const result = await runFile(process.execPath, args, { cwd: directory }).catch(
        (error: unknown) => error,
      );
      expect(result).toMatchObject({ stdout: '' });
    },
    compileLimitMs,
  );
});

import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PeerFolder } from './peer-folder.js';

// Test limit, for the download of up to ten packages.
const limitMs = 300_000;

/** Returns the text of the sections with these headings. */
async function readSections(page: string, headings: readonly string[]): Promise<string> {
  const sections = (await readFile(resolve('docs', page), 'utf8')).split(/^(?=## )/m);
  const found = sections.filter((section) =>
    headings.some((heading) => section.startsWith(`## ${heading}\n`)),
  );
  expect(found).toHaveLength(headings.length);
  return found.join('');
}

/** Returns the arguments of the page's `npm install` commands. */
function findPackages(text: string): string[] {
  const commands = [...text.matchAll(/`npm install ([^`]+)`/g)].map(([, names = '']) => names);
  return commands.flatMap((names) => names.split(' ')).filter((name) => !name.startsWith('--'));
}

/** Creates the project that a reader of the page would have: its files and packages. Returns the file names. */
async function makeProject(folder: PeerFolder, text: string): Promise<string[]> {
  const files = [...text.matchAll(/```ts\n\/\/ (\S+\.ts)\n([^]*?)```/g)];
  for (const [, name = '', code = ''] of files) await writeFile(join(folder.path, name), code);
  await writeFile(join(folder.path, 'package.json'), '{"type": "module"}');
  await folder.run('npm', ['install', '--no-audit', '--no-fund', ...findPackages(text)]);
  return files.map(([, name = '']) => name);
}

describe('the TypeScript examples of the docs', () => {
  let folder: PeerFolder;
  beforeEach(async () => {
    folder = await PeerFolder.create();
  });
  afterEach(() => folder.remove());

  it.each([
    ['live.md', ['WebSocket', 'An event in TypeScript'], ['event-record.ts', 'web-socket.ts']],
    ['live.md', ['Server-sent events', 'An event in TypeScript'], ['event-record.ts', 'server-sent.ts']],
    ['events.md', ['TypeScript'], ['event-record.ts', 'follow-durably.ts', 'follow-live.ts', 'main.ts']],
    ['events.md', ['TypeScript', 'Nest'], ['raids.consumer.ts', 'raids.module.ts', 'raids.service.ts']],
  ])(
    '%s: %j compiles with the packages that the page names, in their newest versions',
    async (page, headings, expected) => {
      const text = await readSections(page, headings);
      const files = await makeProject(folder, text);
      expect(files).toEqual(expect.arrayContaining(expected));
      const [, options = ''] = /npx tsc ([^`]+) \*\.ts/.exec(text) ?? [];
      expect(options).toContain('--strict');
      const more = [...text.matchAll(/`(experimentalDecorators|emitDecoratorMetadata)`/g)].map(
        ([, name]) => `--${name}`,
      );
      const args = ['tsc', ...options.split(' '), ...more, '--noEmit', '--skipLibCheck', ...files];
      expect(await folder.run('npx', args)).toBe('');
    },
    limitMs,
  );
});

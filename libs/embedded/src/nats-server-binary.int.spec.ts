import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findNatsServer } from './nats-server-binary.js';

let directory: string;
const originalPath = process.env.PATH;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nats-server-binary-'));
});
afterEach(async () => {
  process.env.PATH = originalPath;
  await rm(directory, { recursive: true });
});

async function writeProgram(folder: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'nats-server');
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** Does not test the extraction from the system's package, because that needs the package servers. */
describe(findNatsServer.name, () => {
  const log = (): void => undefined;

  it('returns the nats-server on the PATH and skips one that does not run', async () => {
    await writeProgram(join(directory, 'broken'), 'exit 1');
    const working = await writeProgram(join(directory, 'working'), 'echo nats-server: v2.9.10');
    process.env.PATH = [join(directory, 'broken'), join(directory, 'working'), originalPath].join(delimiter);

    expect(await findNatsServer({ cacheDirectory: join(directory, 'cache'), log })).toBe(working);
  });
});

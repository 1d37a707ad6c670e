import { jest } from '@jest/globals';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
import { findRunningPostgres } from './running-postgres.js';

// Each test creates a cluster and starts servers. A busy machine needs minutes for this.
jest.setTimeout(300_000);

describe(findRunningPostgres.name, () => {
  let directory: string;
  let server: EmbeddedPostgres;

  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const start = async (): Promise<void> => {
    server = await startEmbeddedPostgres({ directory: directory, settings, log: () => undefined });
  };
  beforeAll(async () => {
    // If the test runs as root, PostgreSQL runs as another user, who must enter this folder.
    directory = await mkdtemp('/tmp/running-postgres-test-');
    await chmod(directory, 0o711);
    await start();
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('finds a server of another process by its files', async () => {
    expect(await findRunningPostgres(directory)).toBe(server.url);
  });

  it('finds none in an empty folder, without the password, when it was killed, and when it was stopped', async () => {
    expect(await findRunningPostgres(join(directory, 'absent'))).toBeUndefined();
    await server.kill();
    expect(await findRunningPostgres(directory)).toBeUndefined();
    await start();
    await server.stop();
    expect(await findRunningPostgres(directory)).toBeUndefined();
    await start();
    const password = new URL(server.url).password;
    await rm(join(directory, 'postgres-password'));
    expect(await findRunningPostgres(directory)).toBeUndefined();
    await writeFile(join(directory, 'postgres-password'), password);
    expect(await findRunningPostgres(directory)).toBe(server.url);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';
import { createGuardedDirectory } from './guarded-directory.js';

/** The process that the test kills. Like Jest's global setup, it runs the built files. */
const PARENT = `
  import { startPostgresServer, startTestNats } from '@stream-events/testing';
  await startPostgresServer();
  await startTestNats([]);
  console.log('ready');
  setInterval(() => undefined, 1000);
`;

/** Finds the parent's servers and their directories through /proc. */
async function childrenOf(pid: number): Promise<{ pid: number; directory: string }[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'))
    .trim()
    .split(' ')
    .map(Number);
  const found = await Promise.all(
    children.map(async (child) => {
      const commandLine = await readFile(`/proc/${child}/cmdline`, 'utf8');
      const directory = /\/[^\0]*\/stream-events-test-\w+/.exec(commandLine)?.[0];
      return directory === undefined ? [] : [{ pid: child, directory }];
    }),
  );
  return found.flat();
}

function isZombieOrGone(pid: number): Promise<boolean> {
  return readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => stat.slice(stat.lastIndexOf(')')).startsWith(') Z'),
    () => true,
  );
}

const onLinux = process.platform === 'linux' ? it : it.skip;

describe(createGuardedDirectory.name, () => {
  onLinux.each(['SIGKILL', 'SIGINT'] as const)(
    'leaves no server and no directory when the process ends by %s (reads /proc: Linux only)',
    async (signal) => {
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', PARENT], {
        cwd: fileURLToPath(new URL('.', import.meta.url)),
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, NODE_OPTIONS: '', TEST_SERVERS: 'embedded' },
      });
      await once(parent.stdout, 'data');
      const servers = await childrenOf(parent.pid ?? 0);
      expect(servers).toHaveLength(2);

      parent.kill(signal);

      // The guard makes 20 passes over the servers and starts several processes in each pass.
      await eventually(
        async () => {
          for (const { pid, directory } of servers) {
            expect(await isZombieOrGone(pid)).toBe(true);
            await expect(access(directory)).rejects.toMatchObject({ code: 'ENOENT' });
          }
        },
        { timeoutMs: 90_000 },
      );
    },
    240_000, // Node and PostgreSQL start first
  );

  it('is removed by its owner', async () => {
    const directory = await createGuardedDirectory();

    await directory.remove();

    await expect(access(directory.path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

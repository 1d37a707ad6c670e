import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGuardedDirectory, eventually, freePort, ServiceProcess } from '@stream-events/testing';
import { send } from './api.js';
import { SecretSearch, type FoundSecret } from './secret-search.js';
import { startLimitMs } from './stack.js';

/** npm start generates secrets and stores them in files that only the current user can read. */
describe('secrets of npm start', () => {
  it(
    'are only in files that nobody else can read',
    async () => {
      const directory = await createGuardedDirectory();
      const PORT = String(await freePort());
      const environment = { DATA_DIR: directory.path, PORT, ADMIN_PORT: PORT, LOG_LEVEL: 'trace' };
      const service = new ServiceProcess('all-in-one', environment);
      await service.start();
      await eventually(() => expect(service.output).toContain('Press Ctrl-C to stop'), { timeoutMs: 60_000 });
      const home = join(directory.path, 'simulator');
      const search = new SecretSearch();
      for (const name of ['secret-key', 'nats-subscriber-password', 'simulator-control-secret'])
        search.add(name, (await readFile(join(home, name), 'utf8')).trim());
      const credentials = await readFile(join(home, 'owner-credentials'), 'utf8');
      for (const name of ['password', 'token'])
        search.add(`owner's ${name}`, new RegExp(`^${name} +(\\S+)`, 'm').exec(credentials)?.[1] ?? '');
      const token = /^token +(\S+)/m.exec(credentials)?.[1] ?? '';
      expect((await send('GET', `${service.url}/api/v1/users/me`, { token })).status).toBe(200);
      await service.stop();
      const readable: FoundSecret[] = [];
      const guarded = new Set<string>();
      for (const entry of await readdir(directory.path, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const found = search.find((await readFile(path)).toString('latin1'), path);
        if (((await stat(path)).mode & 0o077) !== 0) readable.push(...found);
        else for (const { secret } of found) guarded.add(`${secret} in ${entry.name}`);
      }
      expect(readable).toEqual([]);
      // The nats-server configuration contains the passwords of all NATS users.
      expect([...guarded].sort()).toEqual(
        [
          "owner's password in owner-credentials",
          "owner's token in owner-credentials",
          'nats-subscriber-password in nats-subscriber-password',
          'nats-subscriber-password in nats-server.conf',
          'secret-key in secret-key',
          'simulator-control-secret in simulator-control-secret',
        ].sort(),
      );
      expect(search.find(service.output, 'output')).toEqual([]);
      await directory.remove();
    },
    2 * startLimitMs,
  );
});

import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openArchive } from './backup-archive.js';
import { runCommand, startHeldRestore, type CommandResult } from './backup-commands.js';
import {
  createGuardedDirectory,
  eventually,
  freePort,
  ServiceProcess,
  type GuardedDirectory,
} from '@stream-events/testing';
import { eventBody, eventsPath, send, uniqueType, type EventPage, type EventRecord } from './api.js';
import { LiveSocket } from './live-clients.js';
import { owner } from './credentials.js';
import { startLimitMs } from './stack.js';

// Test limit. Creating the database cluster and restoring take seconds, and an erasure waits 26 s for other processes. On a busy machine,
// each of up to eight commands takes 30 s to start.
const limitMs = 600_000;
const settled = { timeoutMs: 180_000 };

/** Runs the drill of docs/backup.md: `npm start`, `npm run backup` while it runs, and `npm run restore` on another machine. */
describe('backup and restore of the embedded installation', () => {
  const user = '4711081500';
  const [before, during, after] = [uniqueType('before'), uniqueType('during'), uniqueType('after')];
  let source: GuardedDirectory;
  let target: GuardedDirectory;
  let service: ServiceProcess;
  let restored: ServiceProcess;
  let archive: string;
  let list: string;
  let token: string;
  let position: string;
  let erasure: string;
  let stored: EventRecord[];
  /** Events that were accepted while the backup ran, in order. */
  const accepted: EventRecord[] = [];

  const createService = async (directory: GuardedDirectory): Promise<ServiceProcess> => {
    const PORT = String(await freePort());
    return new ServiceProcess('all-in-one', {
      ...{ DATA_DIR: directory.path, PORT, ADMIN_PORT: PORT, SIMULATOR_RATE: '0' },
      ...{ OWNER_USERNAME: owner.username, OWNER_PASSWORD: owner.password },
    });
  };
  const add = async (type: string, userId = '1'): Promise<EventRecord> => {
    const body = eventBody({ event_type: type, event_data: { user_id: userId } });
    const answer = await send<EventRecord>('POST', service.url + eventsPath, { token, body });
    expect(answer.status).toBe(201);
    return answer.json;
  };
  const listEvents = async (of: ServiceProcess, query: string): Promise<EventRecord[]> => {
    const found: EventRecord[] = [];
    let url: string | null = `${of.url}${eventsPath}?page_size=100&${query}`;
    while (url !== null) {
      const { status, json }: { status: number; json: EventPage } = await send('GET', url, { token });
      expect(status).toBe(200);
      found.push(...json.results);
      url = json.next;
    }
    return found;
  };
  const restore = (...words: string[]): Promise<CommandResult> =>
    runCommand('restore', words, { DATA_DIR: target.path });

  beforeAll(async () => {
    source = await createGuardedDirectory();
    target = await createGuardedDirectory();
    archive = join(source.path, 'backup.tar.gz');
    list = join(source.path, 'erasures.json');
    service = await createService(source);
    restored = await createService(target);
    await service.start();
    const { username, password } = owner;
    const login = await send<{ token: string }>('POST', `${service.url}/api-token-auth`, {
      token: null,
      body: { username, password },
    });
    ({ token } = login.json);
  }, startLimitMs);

  afterAll(async () => {
    await Promise.all([service.stop(), restored.stop()]);
    await Promise.all([source.remove(), target.remove()]);
  }, startLimitMs);

  it(
    'copies everything to a private file while events arrive',
    async () => {
      const socket = await LiveSocket.ready(service.url, { token, event_type: before });
      for (let count = 0; count < 20; count += 1) await add(before, count % 2 === 0 ? user : '1');
      await eventually(() => expect(socket.events).toHaveLength(20), settled);
      position = socket.position ?? '';
      await socket.close();
      stored = await listEvents(service, `event_type=${before}`);
      const running = new AbortController();
      const load = (async () => {
        while (!running.signal.aborted) {
          accepted.push(await add(during));
          await wait(10);
        }
      })();
      await eventually(() => expect(accepted.length).toBeGreaterThan(20), settled);
      const known = accepted.length;
      const { code, output } = await runCommand('backup', [archive], { DATA_DIR: source.path });
      running.abort();
      await load;
      expect(output).toContain('rows of');
      expect(code).toBe(0);

      expect((await stat(archive)).mode & 0o777).toBe(0o600);
      expect(output).toContain(join(source.path, 'simulator/secret-key'));
      const secretKey = await readFile(join(source.path, 'simulator/secret-key'), 'utf8');
      const { files, text } = await openArchive(archive);
      expect(text).not.toContain(secretKey);
      expect(text).not.toContain(token);
      expect(text).toContain(accepted[known - 1]?.id);
      expect(files[0]).toBe('manifest.json');
      const again = await runCommand('backup', [archive], { DATA_DIR: source.path });
      expect(again.output).toContain('already exists');
    },
    limitMs,
  );

  it(
    'refuses a missing key, a wrong key, a damaged file, and another platform before it writes anything',
    async () => {
      expect((await restore(archive)).output).toContain('there is no SECRET_KEY');
      const keyPath = join(target.path, 'simulator/secret-key');
      await mkdir(join(target.path, 'simulator'), { mode: 0o711 });
      await writeFile(keyPath, 'w'.repeat(64), { mode: 0o600 });
      expect((await restore(archive)).output).toContain('SECRET_KEY does not decrypt the secrets');
      await copyFile(join(source.path, 'simulator/secret-key'), keyPath);
      const cut = join(source.path, 'cut.tar.gz');
      await copyFile(archive, cut);
      await truncate(cut, Math.floor((await stat(archive)).size / 2));
      expect((await restore(cut)).output).toContain('cannot be read: unexpected end of file');
      const environment = { DATA_DIR: target.path, PLATFORM: 'none', SECRET_KEY: 'k'.repeat(64) };
      expect((await runCommand('restore', [archive], environment)).output).toContain(
        'Set PLATFORM=simulator',
      );
      const check = await restore(archive, '--check');
      expect(check).toMatchObject({ code: 0, output: expect.stringContaining('SECRET_KEY decrypts all') });

      expect(await readdir(join(target.path, 'simulator'))).toEqual(['secret-key']);
      expect((await restore(archive, '--unknown')).code).toBe(2);
    },
    limitMs,
  );

  it(
    'leaves an installation that does not start when the restore is killed, and completes with the next restore',
    async () => {
      for (let count = 0; count < 3; count += 1) await add(after);
      const created = await send<{ id: string }>('POST', `${service.url}/api/v1/erasures`, {
        token,
        body: { platform_user_id: user },
      });
      erasure = created.json.id;
      const saved = await runCommand('backup', ['--erasures', list], { DATA_DIR: source.path });
      expect(saved.output).toContain('1 erasures');
      expect(await readFile(list, 'utf8')).not.toContain(user);
      expect((await stat(list)).mode & 0o777).toBe(0o600);

      // Simulate the list of another database, or of this one before a restore.
      const other = join(source.path, 'other-erasures.json');
      const content = (await readFile(list, 'utf8')).replace(erasure, '01a2199e-02e0-70d7-9b30-3f3a302e1b3b');
      await writeFile(other, content);
      const refused = await runCommand('backup', ['--erasures', other], { DATA_DIR: source.path });
      expect(refused.code).toBe(1);
      expect(refused.output).toContain('lists 1 erasures that this database lacks');
      expect(await readFile(other, 'utf8')).toBe(content);
      await service.stop();

      const { restore: killed, pipe } = await startHeldRestore(archive, { DATA_DIR: target.path });
      expect(killed.output).toContain('Creating the tables');
      await killed.kill();
      await pipe.close();
      const { code, output } = await restored.runToEnd();
      expect(code).toBe(1);
      expect(output).toContain('a restore is running, or was interrupted. Run npm run restore again');
      for (const args of [[`${archive}.part`], ['--erasures', list]])
        expect(await runCommand('backup', args, { DATA_DIR: target.path })).toMatchObject({ code: 1 });

      const second = await restore(archive, '--erasures', list);
      expect(second.output).toContain('An earlier restore was interrupted: starting over');
      expect(second.output).toContain('1 erasures from after the backup run again');
      expect(second.output).not.toContain('are unknown');
      expect(second.code).toBe(0);
    },
    limitMs,
  );

  it(
    'restores every row of every table',
    async () => {
      const copy = join(target.path, 'copy.tar.gz');
      expect((await runCommand('backup', [copy], { DATA_DIR: target.path })).code).toBe(0);

      const [original, restoredRows] = await Promise.all([openArchive(archive), openArchive(copy)]);
      const sums = new Map(
        restoredRows.contents.tables.map((table) => [`${table.schema}.${table.table}`, table]),
      );
      const different = original.contents.tables
        .filter(({ schema, table, sha256 }) => sums.get(`${schema}.${table}`)?.sha256 !== sha256)
        .map(({ schema, table }) => `${schema}.${table}`);
      // The restore starts a new epoch in `event_stream` and records the repeated erasure in `erasures`.
      expect(different).toEqual(['events.erasures', 'events.event_stream']);
      expect(original.contents.tables.length).toBeGreaterThan(50);
      expect(restoredRows.contents.sequences).toEqual(original.contents.sequences);
    },
    limitMs,
  );

  it(
    'starts with the same token, lists, and streams, and with a gap for earlier positions',
    async () => {
      await restored.start();

      // The repeated erasure later deletes half of these events. Compare only the events of other users.
      const others = (events: EventRecord[]) =>
        events.filter(({ event_data }) => event_data.user_id !== user);
      expect(others(await listEvents(restored, `event_type=${before}`))).toEqual(others(stored));
      const kept = (await listEvents(restored, `event_type=${during}`)).reverse();
      expect(kept.length).toBeGreaterThan(20);
      // The test sent the events one by one, so the backup contains a prefix of the list.
      expect(kept).toEqual(accepted.slice(0, kept.length));
      expect(await listEvents(restored, `event_type=${after}`)).toEqual([]);
      const socket = await LiveSocket.ready(restored.url, { token, after: position });
      expect(socket.controls[0]).toMatchObject({ event: 'gap' });
      await socket.close();
    },
    limitMs,
  );

  it(
    'repeats the erasures of the list',
    async () => {
      const path = `${restored.url}/api/v1/erasures/${erasure}`;
      await eventually(async () => {
        const { json } = await send<{ status: string; counts: object }>('GET', path, { token });
        expect(json).toMatchObject({ status: 'done', counts: { events: { total: 10 } } });
      }, settled);

      const left = await listEvents(restored, `event_type=${before}`);
      expect(left).toEqual(stored.filter(({ event_data }) => event_data.user_id !== user));
    },
    limitMs,
  );

  it(
    'subscribes at the platform again',
    async () => {
      const path = `${restored.url}/api/v1/platform/subscriptions?page_size=100`;
      await eventually(async () => {
        const { json } = await send<{ results: { type: string; status: string }[] }>('GET', path, { token });
        const online = json.results.filter(({ type }) => type === 'stream.online');
        expect(online.length).toBeGreaterThan(0);
        expect(online.map(({ status }) => status)).toEqual(online.map(() => 'enabled'));
      }, settled);
    },
    limitMs,
  );

  it(
    'replaces the data of an installation only when told, and then repeats its erasures',
    async () => {
      expect((await restore(archive, '--replace')).output).toContain('npm start is running on this data');
      await restored.stop();

      expect((await restore(archive)).output).toContain('the installation already contains data');
      const { code, output } = await restore(archive, '--replace');
      expect(output).toContain('1 erasures from after the backup run again');
      const [, backedUpAt = ''] = /as of (\S+),/.exec(output) ?? [];
      expect(output).toContain(
        `Erasures that were requested after ${backedUpAt}, the time of the backup, are unknown, except those of the replaced data`,
      );
      expect(output).toContain('restore again with --replace --erasures LIST');
      expect(code).toBe(0);
    },
    limitMs,
  );

  it(
    'restores everything but the secrets when the key is lost',
    async () => {
      await rm(join(target.path, 'simulator/secret-key'));
      expect((await restore(archive, '--replace')).output).toContain('If the key is lost, add --without-key');
      expect((await restore(archive, '--without-key', '--erasures', list)).code).toBe(2);
      const { code, output } = await restore(archive, '--replace', '--without-key');
      expect(output).toContain('Deleted the main tokens');
      expect(output).toMatch(
        /requested after 20\S+Z, the time of the backup, are unknown: .* Request them again/,
      );
      expect(code).toBe(0);

      await restored.start();
      const { username, password } = owner;
      const body = { username, password };
      const login = await send<{ token: string }>('POST', `${restored.url}/api-token-auth`, {
        token: null,
        body,
      });
      expect(login.json.token).not.toBe(token);
      token = login.json.token;
      expect(await listEvents(restored, `event_type=${before}`)).toEqual(stored);
    },
    limitMs,
  );
});

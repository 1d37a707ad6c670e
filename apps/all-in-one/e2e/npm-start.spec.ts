import { jest } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { simulatorUrls, toPlatformEnvironment } from '@stream-events/platforms';
import {
  createGuardedDirectory,
  eventually,
  freePort,
  HostedService,
  ServiceProcess,
  type GuardedDirectory,
} from '@stream-events/testing';
import { send, type EventPage } from './api.js';
import { RecordingProxy } from './recording-proxy.js';
import { application, controlSecret } from './credentials.js';
import { startLimitMs } from './stack.js';

const runFile = promisify(execFile);

jest.setTimeout(startLimitMs);

/** Runs the program behind `npm start` with its output in a pipe instead of a terminal. */
describe('npm start', () => {
  let directory: GuardedDirectory;
  let path: string;
  let service: ServiceProcess;

  beforeAll(async () => {
    directory = await createGuardedDirectory();
    path = join(directory.path, 'simulator/owner-credentials');
    const PORT = String(await freePort());
    // ADMIN_PORT = PORT serves health checks on the gateway's port.
    const environment = { DATA_DIR: directory.path, PORT, ADMIN_PORT: PORT, LOG_LEVEL: 'trace' };
    service = new ServiceProcess('all-in-one', environment);
    await service.start();
    await eventually(() => expect(service.output).toContain('Press Ctrl-C to stop'), { timeoutMs: 60_000 });
  }, 2 * startLimitMs);

  afterAll(async () => {
    await service.stop();
    await directory.remove();
  }, startLimitMs);

  const readCredentials = async (): Promise<Record<'user' | 'password' | 'token', string>> => {
    const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.split(/ +/));
    const valueOf = (name: string): string => lines.find(([key]) => key === name)?.[1] ?? '';
    return { user: valueOf('user'), password: valueOf('password'), token: valueOf('token') };
  };

  it('writes the credentials of the first owner to a private file, and none of them to its output', async () => {
    expect(service.output).toContain(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const { user, password, token } = await readCredentials();
    const body = { username: user, password };
    const login = await send<{ token: string }>('POST', `${service.url}/api-token-auth`, {
      token: null,
      body,
    });
    expect(login.json).toEqual({ token });
    expect(token).toMatch(/^[0-9a-f]{40}$/);
    expect(service.output).not.toContain(password);
    expect(service.output).not.toContain(token);
  });

  it('runs a simulator that sends to the gateway, and that npm run simulator can control but a web page cannot', async () => {
    const simulate = async (...words: string[]): Promise<string> => {
      const program = [resolve('apps/platform-simulator/dist/cli.js'), ...words];
      const env = { PATH: process.env.PATH, DATA_DIR: directory.path };
      return (await runFile(process.execPath, program, { env })).stdout;
    };
    // Each attempt starts a process, which takes many seconds on a busy machine.
    await eventually(async () => expect(await simulate('status')).toMatch(/ [1-9]\d* accepted/), {
      timeoutMs: 100_000,
    });
    expect(await simulate('rate', '2')).toContain('2 events per second');

    const record = await readFile(join(directory.path, 'simulator/simulator.json'), 'utf8');
    const { url } = JSON.parse(record) as { url: string };
    const body = new URLSearchParams({ name: 'none' });
    expect((await fetch(`${url}/simulator/scenarios`, { method: 'POST', body })).status).toBe(401);

    const secretPath = join(directory.path, 'simulator/simulator-control-secret');
    expect((await stat(secretPath)).mode & 0o777).toBe(0o600);
    expect(service.output).not.toContain(await readFile(secretPath, 'utf8'));
  });

  it(
    'leaves data whose secrets can be rotated: the token stays valid, also when a rotation was interrupted',
    async () => {
      const { user: username, password, token } = await readCredentials();
      const keyPath = join(directory.path, 'simulator/secret-key');
      const passwordPath = join(directory.path, 'simulator/nats-subscriber-password');
      const [oldKey, oldPassword] = await Promise.all([
        readFile(keyPath, 'utf8'),
        readFile(passwordPath, 'utf8'),
      ]);
      const module = resolve('apps/all-in-one/dist/secrets.js');
      const run = async (command: string): Promise<string> => {
        const code = `import { runSecrets } from '${module}'; await runSecrets('${command}');`;
        const { stdout, stderr } = await runFile(process.execPath, ['--input-type=module', '--eval', code], {
          env: { PATH: process.env.PATH, DATA_DIR: directory.path },
        });
        return stdout + stderr;
      };
      await expect(run('rotate')).rejects.toThrow('npm start is running on this data');

      await service.stop();
      // Simulate a crash between the first and the last write of the file.
      const begun = `${'n'.repeat(64)},${oldKey}`;
      await writeFile(keyPath, begun);
      expect(await run('rotate')).toContain('Gateway: 1 values encrypted with the new key');
      expect(await readFile(keyPath, 'utf8')).toBe('n'.repeat(64));
      const output = (await run('rotate')) + (await run('rotate-subscriber'));
      const [newKey, newPassword] = await Promise.all([
        readFile(keyPath, 'utf8'),
        readFile(passwordPath, 'utf8'),
      ]);
      for (const secret of [newKey, newPassword]) {
        expect(secret).toMatch(/^[0-9a-f]{64}$/);
        expect(output).not.toContain(secret);
      }
      expect(newPassword).not.toBe(oldPassword);
      expect((await stat(keyPath)).mode & 0o777).toBe(0o600);

      await service.start();
      const login = await send<{ token: string }>('POST', `${service.url}/api-token-auth`, {
        token: null,
        body: { username, password },
      });
      expect(login.json).toEqual({ token });
    },
    // This test runs `npm run secrets` four times and then starts the service.
    3 * startLimitMs,
  );

  it(
    'leaves data whose owner can be reset, again without credentials in the output',
    async () => {
      const before = await readCredentials();
      await service.stop();
      const module = resolve('apps/all-in-one/dist/owner-reset.js');
      const code = `import { runOwnerReset } from '${module}'; await runOwnerReset();`;
      const { stdout, stderr } = await runFile(process.execPath, ['--input-type=module', '--eval', code], {
        env: { PATH: process.env.PATH, DATA_DIR: directory.path },
      });
      const after = await readCredentials();
      expect(after.user).toBe(before.user);
      expect(after.password).not.toBe(before.password);
      expect(stdout).toContain(path);
      expect(stdout + stderr).not.toContain(after.password);
      expect(stdout + stderr).not.toContain(after.token);
    },
    2 * startLimitMs,
  );
});

describe('npm start that fails after it has created the first owner', () => {
  it(
    'gives the credentials of this owner',
    async () => {
      const directory = await createGuardedDirectory();
      const PORT = String(await freePort());
      const environment = { DATA_DIR: directory.path, PORT, ADMIN_PORT: PORT };
      // The connector starts after the gateway and rejects this value.
      const failing = new ServiceProcess('all-in-one', { ...environment, PLATFORM_TRANSPORT: 'pigeon' });
      await Promise.allSettled([failing.start()]); // resolves or rejects, depending on when the process exits
      await eventually(() => expect(failing.output).toContain('PLATFORM_TRANSPORT'), { timeoutMs: 60_000 });
      await failing.stop();
      const written = await readFile(join(directory.path, 'simulator/owner-credentials'), 'utf8');
      const [, username, password] = /^user +(\S+)\npassword +(\S+)$/m.exec(written) ?? [];

      const service = new ServiceProcess('all-in-one', environment);
      await service.start();

      const body = { username, password };
      expect((await send('POST', `${service.url}/api-token-auth`, { token: null, body })).status).toBe(200);
      await service.stop();
      await directory.remove();
    },
    2 * startLimitMs,
  );
});

const isLinux = process.platform === 'linux';
const describeOnLinux = isLinux ? describe : describe.skip;

describeOnLinux(
  `npm start in a terminal${isLinux ? '' : ' (skipped: needs the options of script on Linux)'}`,
  () => {
    it('prints its log as sentences, not as JSON', async () => {
      const directory = await createGuardedDirectory();
      const PORT = String(await freePort());
      const env = {
        PATH: process.env.PATH,
        DATA_DIR: directory.path,
        PORT,
        ADMIN_PORT: PORT,
        LOG_LEVEL: 'info',
      };
      const command = `exec ${process.execPath} ${resolve('apps/all-in-one/dist/main.js')}`;
      const terminal = spawn('script', ['-qec', command, '/dev/null'], { env });
      let output = '';
      terminal.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      const logged = /^\d\d:\d\d:\d\d info platform-connector: subscriptions reconciled/m;
      await eventually(() => expect(output).toMatch(logged), { timeoutMs: 120_000 });
      terminal.stdin.write('\x03'); // Ctrl-C
      await once(terminal, 'exit');

      expect(output).not.toMatch(/^\{/m);
      await directory.remove();
    });
  },
);

/**
 * Starts with real platform credentials. Because the service refuses to use the simulator as Twitch, a proxy hides the simulator's
 * identity.
 */
describe('npm start with PLATFORM=twitch', () => {
  const follower = 'the-first-follower';
  let directory: GuardedDirectory;
  let simulator: HostedService;
  let proxy: RecordingProxy;
  let service: ServiceProcess;
  let channelId = '';

  beforeAll(async () => {
    directory = await createGuardedDirectory();
    simulator = new HostedService('platform-simulator', {
      ...application,
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      ADMIN_PORT: String(await freePort()),
      LOG_LEVEL: 'warn',
      SIMULATOR_RATE: '0',
      SIMULATOR_GRANTS: 'explicit',
      SIMULATOR_CONTROL_SECRET: controlSecret,
      SIMULATOR_CALLBACK_ORIGINS: 'http://127.0.0.1:9',
    });
    await simulator.start();
    await simulate('limits', { device_interval_seconds: 1 });
    const { users } = await simulate<{ users: { id: string }[] }>('users', { login: 'mira' });
    channelId = users[0]!.id;
    proxy = await RecordingProxy.start(simulator.url);
    proxy.hiddenHeader = 'x-platform-simulation';
    const PORT = String(await freePort());
    service = new ServiceProcess('all-in-one', {
      ...application,
      ...toPlatformEnvironment({ ...simulatorUrls(proxy.url), socket: simulatorUrls(simulator.url).socket }),
      PLATFORM: 'twitch',
      DATA_DIR: directory.path,
      PORT,
      ADMIN_PORT: PORT,
    });
    await service.start();
  }, 2 * startLimitMs);

  afterAll(async () => {
    await service.stop();
    await proxy.stop();
    await simulator.stop();
    await directory.remove();
  }, startLimitMs);

  const simulate = async <Reply>(path: string, body: object): Promise<Reply> => {
    const headers = { authorization: `Bearer ${controlSecret}` };
    return (await send<Reply>('POST', `${simulator.url}/simulator/${path}`, { token: null, headers, body }))
      .json;
  };

  it(
    'leads from the credentials over the code at the terminal to the first follow',
    async () => {
      const { page = '', code = '' } = await eventually(
        () => {
          const found = /confirm the code (?<code>[A-Z]+)\s+(?<page>http\S+)/.exec(service.output);
          expect(found).not.toBeNull();
          return found?.groups ?? {};
        },
        { timeoutMs: 60_000 },
      );
      expect(await (await fetch(page)).text()).toContain(code);
      const body = new URLSearchParams({ user_code: code, login: 'mira', decision: 'allow' });
      const { origin } = new URL(page);
      await fetch(`${origin}/activate`, { method: 'POST', headers: { origin }, body });
      await eventually(() => expect(service.output).toContain('The channel mira is connected'), {
        timeoutMs: 60_000,
      });

      const credentials = await readFile(join(directory.path, 'twitch/owner-credentials'), 'utf8');
      const token = /^token +(\w+)/m.exec(credentials)?.[1] ?? '';
      const event = { broadcaster_user_id: channelId, user_id: '1', user_name: follower };
      await eventually(
        async () => {
          await simulate('occurrences', { type: 'channel.follow', event });
          const list = `${service.url}/api/v1/platform-events?event_type=channel-follow`;
          const { json } = await send<EventPage>('GET', list, { token });
          expect(json.results[0]?.event_data).toMatchObject(event);
        },
        { timeoutMs: 60_000, intervalMs: 500 },
      );

      const tokens = [...proxy.authorizations].map((authorization) => authorization.split(' ')[1]!);
      expect(tokens).not.toEqual([]);
      for (const secret of [...tokens, token, application.PLATFORM_CLIENT_SECRET])
        expect(service.output).not.toContain(secret);
    },
    2 * startLimitMs,
  );
});

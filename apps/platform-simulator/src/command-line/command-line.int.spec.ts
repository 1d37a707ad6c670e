import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { lengthenTimers } from '../../test/clock.js';
import { controlSecret, SimulatorSetup } from '../../test/simulator-setup.js';
import { SocketClient } from '../../test/socket-client.js';
import { isNotification } from '../../test/webhook-receiver.js';
import { runCommandLine } from './command-line.js';

const environment = { SIMULATOR_CONTROL_SECRET: controlSecret };

describe(runCommandLine.name, () => {
  let setup: SimulatorSetup;

  beforeAll(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => jest.restoreAllMocks());
  afterAll(() => setup.close());

  const run = async (...words: string[]): Promise<{ exitCode: number; output: string }> => {
    const { exitCode, lines } = await runCommandLine([...words, '--url', setup.simulator.url], environment);
    return { exitCode, output: lines.join('\n') };
  };

  it('adds, lists, renames, and removes users', async () => {
    expect(await run('add', 'mira', '--id', '77')).toEqual({ exitCode: 0, output: '77  mira  (mira)' });
    expect((await run('add', '3')).output.split('\n')).toHaveLength(3);
    expect((await run('users')).output).toContain('77  mira');
    expect((await run('rename', 'mira', 'vera')).output).toContain('77  vera');
    expect((await run('remove', 'vera')).exitCode).toBe(0);
    expect(await run('users', 'vera')).toMatchObject({ exitCode: 1 });
  });

  it('lets a user go live and offline', async () => {
    await run('add', 'nora', '--id', '78');
    expect((await run('live', 'nora', '--title', 'Hi', '--viewers', '5')).output).toContain('nora is live');
    const { json } = await setup.call('GET', '/helix/streams?user_id=78');
    expect(json.data).toMatchObject([{ title: 'Hi', viewer_count: 5 }]);
    expect((await run('streams', 'nora')).output).toContain('running');
    expect((await run('offline', 'nora', '--silent')).output).toContain('nora is offline');
    expect((await run('live', 'nobody')).exitCode).toBe(1);
  });

  it('sends a notification', async () => {
    await setup.subscribe();
    const sent = await run('send', 'channel.follow', '--event', '{"user_name":"Zoë"}');
    expect(sent).toMatchObject({ exitCode: 0, output: expect.stringContaining('response: 204') });
    const [notification] = await setup.receiver.waitFor(1, isNotification);
    expect(notification?.json.event).toMatchObject({ user_name: 'Zoë' });
  });

  it('sets rate, faults, limits and scenario, and shows them', async () => {
    await run('rate', '3');
    await run('fault', 'api', 'slow', '--delay', '1');
    await run('fault', 'notifications', '--lose', '0.5');
    await run('limits', '--rate-limit', '500');
    await run('scenario', 'quiet', '--rate', '0');
    const { output } = await run('status');
    for (const part of ['0 events per second', '"mode":"slow"', '"lose":0.5']) expect(output).toContain(part);
    expect((await run('limits')).output).toContain('rate_limit: 500');
    expect((await run('scenario')).output).toContain('Running: quiet');
    expect((await run('fault', 'none')).output).toContain('"mode":"ok"');
    expect((await run('revoke-tokens')).output).toContain('Revoked');
  });

  it('registers applications, and decides for users', async () => {
    await run('add', 'vera', '--id', '79');
    expect((await run('application', 'cli-app', '--name', 'My app')).output).toContain('a public client');
    const form = new URLSearchParams({ client_id: 'cli-app', scopes: 'bits:read' });
    const start = async (): Promise<string> =>
      String((await setup.call('POST', '/oauth2/device', form)).json.user_code);
    const code = await start();
    expect((await run('devices')).output).toBe(`${code}  cli-app  bits:read`);
    expect((await run('approve', code, 'vera')).exitCode).toBe(0);
    expect((await run('deny', await start())).exitCode).toBe(0);
    expect((await run('devices')).output).toBe('No device is waiting.');
    expect((await run('grants')).output).toBe('user 79 → cli-app: bits:read');
    const more = await run('grant', 'vera', 'channel:read:polls,channel:bot', '--client', 'cli-app');
    expect(more.output).toBe('user 79 → cli-app: bits:read channel:bot channel:read:polls');
    expect((await run('disconnect', 'vera', '--client', 'cli-app')).exitCode).toBe(0);
    expect((await run('grants')).output).toBe('No user has granted any scope.');
    expect((await run('fault', 'oauth', '--refresh-fails', '2')).output).toContain('"refresh_fails":2');
    expect((await run('limits', '--grants', 'explicit')).output).toContain('grants: explicit');
    await run('limits', '--grants', 'everyone');
  });

  it('lists and disturbs sockets', async () => {
    lengthenTimers(10_000); // otherwise the simulator would close the unused socket on a slow machine
    expect((await run('sockets')).output).toBe('No client is connected.');
    const client = await SocketClient.connect(setup.simulator.url);
    expect((await run('socket', 'slow', '--delay', '50')).output).toContain('50 ms slow');
    expect((await run('sockets')).output).toContain(client.sessionId);
    const closed = await run('socket', 'close', '--code', '4000', '--session', client.sessionId);
    expect([closed.exitCode, await client.closed]).toEqual([0, [4000, 'internal server error']]);
  });

  it.each([
    [['dance'], 2, 'Unknown command: dance'],
    [['live'], 2, 'An argument is missing'],
    [['live', 'a', 'b'], 2, 'Unexpected argument: b'],
    [['live', 'a', '--loud'], 2, "Unknown option '--loud'"],
    [['live', 'a', '--viewers', 'many'], 1, '--viewers must be a number'],
    [['send', 'channel.cheer', '--event', '[]'], 1, 'must be a JSON object'],
    [['fault', 'weather'], 1, 'fault requires one of'],
    [['rate', 'fast'], 1, 'responded with 400'],
  ])('%j exits with code %i and prints the reason', async (words, exitCode, fault) => {
    const result = await run(...words);
    expect(result).toEqual({ exitCode, output: expect.stringContaining(fault) });
  });

  it('reports an address where no simulator or another program is listening', async () => {
    const nobody = await runCommandLine(['status', '--url', 'http://127.0.0.1:9'], environment);
    expect([nobody.exitCode, nobody.lines[0]]).toEqual([
      1,
      expect.stringContaining('Cannot reach a simulator'),
    ]);
    const server = createServer((_, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const other = await runCommandLine(['status', '--url', `http://127.0.0.1:${port}`], environment);
    expect([other.exitCode, other.lines[0]]).toEqual([
      1,
      expect.stringContaining('not a simulated platform'),
    ]);
    server.close();
    server.closeAllConnections();
  });

  it('needs the control secret for an address', async () => {
    const words = ['status', '--url', setup.simulator.url];
    const missing = await runCommandLine(words, {});
    expect([missing.exitCode, missing.lines.join()]).toEqual([
      1,
      expect.stringContaining('SIMULATOR_CONTROL_SECRET is required'),
    ]);
    const wrong = await runCommandLine(words, { SIMULATOR_CONTROL_SECRET: 'x'.repeat(32) });
    expect([wrong.exitCode, wrong.lines.join()]).toEqual([1, expect.stringContaining('responded with 401')]);
    for (const { lines } of [missing, wrong]) expect(lines.join()).not.toMatch(/x{32}/);
  });

  it('does not send the control secret on when it is redirected', async () => {
    const paths: unknown[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { exitCode } = await runCommandLine(['status', '--url', `http://127.0.0.1:${port}`], environment);
    expect([exitCode, paths]).toEqual([1, ['/simulator']]);
    server.close();
    server.closeAllConnections();
  });

  it('prints help without a command and with help', async () => {
    for (const words of [[], ['help'], ['--help']]) {
      const { exitCode, lines } = await runCommandLine(words);
      expect([exitCode, lines.join('\n')]).toEqual([0, expect.stringContaining('scenario')]);
    }
    expect((await runCommandLine(['live', '--help'])).lines.join('\n')).toContain('--listed-after');
  });
});

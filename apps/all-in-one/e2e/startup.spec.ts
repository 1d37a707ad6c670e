import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmptyDatabase, ServiceProcess, type TestDatabase } from '@stream-events/testing';
import { eventBody, eventsPath } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

jest.setTimeout(startLimitMs);

describe('start', () => {
  let stack: Stack;
  let otherDatabase: TestDatabase;

  beforeAll(async () => {
    stack = await startStack();
    otherDatabase = await createEmptyDatabase();
  }, startLimitMs);

  afterAll(async () => {
    await stack.stop();
    await otherDatabase.drop();
  });

  describe('with a wrong configuration', () => {
    it('of the gateway exits with code 2 and lists all errors, without secrets', async () => {
      const environment = {
        HOST: '127.0.0.1',
        PORT: '70000',
        ADMIN_PORT: 'x',
        PUBLIC_URL: 'ftp://x',
        DATABASE_URL: 'mysql://gateway:secret-one@db/x',
        NATS_URL: 'http://gateway:secret-two@nats',
        SECRET_KEY: 'secret-three',
        REGISTRATION: 'maybe',
        PLATFORM_WEBHOOK_SECRET: 'secret-4',
        LOG_LEVEL: 'loud',
      };
      const { code, output } = await new ServiceProcess('gateway', environment).runToEnd();
      expect(code).toBe(2);
      const { HOST: _, ...wrong } = environment;
      for (const name of Object.keys(wrong)) expect(output).toContain(`- ${name} `);
      expect(output).toContain(`${Object.keys(wrong).length} error(s)`);
      expect(output).not.toMatch(/secret-(one|two|three|4)/);
    });

    it('of the first owner is rejected, without the password in the log', async () => {
      for (const OWNER_PASSWORD of ['short-1', 'owner-name']) {
        const DATABASE_URL = otherDatabase.urlFor('gateway');
        const environment = { DATABASE_URL, OWNER_USERNAME: 'owner-name', OWNER_PASSWORD };
        const { code, output } = await (await stack.prepareGateway(environment)).runToEnd();
        expect(code).not.toBe(0);
        if (OWNER_PASSWORD === 'short-1') expect(output).not.toContain(OWNER_PASSWORD);
      }
    });
  });

  describe('with secrets in files', () => {
    it('works, and fails with an error when a file is missing', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'stream-events-e2e-'));
      try {
        const path = join(directory, 'secret-key');
        await writeFile(path, 'the secret key of the end-to-end tests\n');
        const gateway = await stack.startGateway({ SECRET_KEY: '', SECRET_KEY_FILE: path });
        expect(await stack.request('GET', eventsPath, { gateway: gateway.url })).toMatchObject({
          status: 200,
        });
        const missing = await stack.prepareGateway({
          SECRET_KEY: '',
          SECRET_KEY_FILE: join(directory, 'none'),
        });
        const { code, output } = await missing.runToEnd();
        expect(code).toBe(2);
        expect(output).toContain('SECRET_KEY_FILE');
      } finally {
        await rm(directory, { recursive: true });
      }
    });
  });

  describe('with the data of another platform', () => {
    it('fails: the events service checks the database', async () => {
      const { code, output } = await (await stack.prepareEvents({ PLATFORM: 'twitch' })).runToEnd();
      expect(code).toBe(1);
      expect(output).toMatch(/platform simulator, but PLATFORM is twitch.*must not mix/);
      expect(output).not.toContain(new URL(stack.databaseUrlFor('events')).password);
    });

    it('fails: the events service checks the stream', async () => {
      const environment = { PLATFORM: 'twitch', DATABASE_URL: otherDatabase.urlFor('events') };
      const { code, output } = await (await stack.prepareEvents(environment)).runToEnd();
      expect(code).toBe(1);
      expect(output).toMatch(/(EVENTS|INGEST).*platform simulator.*PLATFORM is twitch.*must not mix/);
    });

    it('changes nothing', async () => {
      expect(await stack.query('SELECT platform FROM events.store_identity')).toEqual([
        { platform: 'simulator' },
      ]);
      expect(await stack.request('POST', eventsPath, { body: eventBody() })).toMatchObject({ status: 201 });
      await stack.waitUntilPublished();
    });
  });

  it('that waits for the database ends at SIGTERM', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    silent.once('connection', () => void events.kill('SIGTERM'));
    await once(silent, 'listening');
    const url = new URL(stack.databaseUrlFor('events'));
    url.host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const events = await stack.prepareEvents({ DATABASE_URL: url.href, LOG_LEVEL: 'info' });

    const { code, output } = await events.runToEnd();
    silent.close();

    expect(output).toContain('stopping the service');
    expect(code).toBe(0);
  });

  it('on a port that is in use fails', async () => {
    const PORT = new URL(stack.url).port;
    const { code, output } = await (await stack.prepareGateway({ PORT })).runToEnd();
    expect(code).toBe(1);
    expect(output).toContain('EADDRINUSE');
  });

  it('after a restart keeps all data', async () => {
    const { text, headers } = await stack.request('POST', eventsPath, { body: eventBody() });
    // Skip the third gateway: its secret file has been deleted.
    const all = [...stack.gateways.slice(0, 2), ...stack.events];
    await Promise.all(all.map((process) => process.restart()));
    expect(await stack.request('GET', headers.get('location') ?? '')).toMatchObject({ status: 200, text });
    expect(await stack.logIn('owner', 'the password of the owner')).toBe(stack.ownerToken);
  });
});

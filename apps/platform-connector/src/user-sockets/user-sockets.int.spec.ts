import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { WebSocketServer } from 'ws';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { UserSessionsRepository } from '../sockets/user-sessions.repository.js';
import { UserSockets } from './user-sockets.service.js';

// Long, because the lease on a socket lasts 10 s.
const patiently = { timeoutMs: 45_000 };
jest.setTimeout(180_000);

const user = '77';
const settledAt = '2026-01-02T03:04:05.000Z';

describe(UserSockets.name, () => {
  let setup: ConnectorSetup;

  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });

  beforeEach(async () => {
    await setup.dataSource.query('TRUNCATE user_sessions, delivery_gaps, subscriptions');
    await setup.dataSource.query(
      `INSERT INTO connections (id, client_id, state, user_id, login, scopes, access_token_encrypted, refresh_token_encrypted)
       VALUES ($1, $2, 'connected', $3, 'mira', '{}', 'a', 'b')`,
      [randomUUID(), setup.config().PLATFORM_CLIENT_ID, user],
    );
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await setup.reset();
  });

  afterAll(() => setup.stop());

  /** Starts a connector, by default one that receives webhooks, after another connector has declared this transport. */
  const start = async (
    declared: string,
    environment: Record<string, string> = {},
  ): Promise<ConnectorInstance> => {
    await setup.dataSource.query('UPDATE reconciliation SET transport = $1', [declared]);
    const instance = await setup.createInstance({
      PUBLIC_URL: 'https://events.example',
      PLATFORM_WEBHOOK_SECRET: 'signs-what-comes',
      ...environment,
    });
    instance.userSockets.start();
    return instance;
  };
  const addSession = (userId: string, session: { id: string | null; isHeld: boolean }): Promise<unknown> =>
    setup.dataSource.query(
      `INSERT INTO user_sessions VALUES ($1, $2, $3, now() + make_interval(secs => $4::int), $5)`,
      [userId, session.id, randomUUID(), session.isHeld ? 9 : -1, settledAt],
    );
  const users = async (): Promise<string[]> => {
    const rows = await setup.dataSource.query<{ userId: string }[]>(
      'SELECT user_id AS "userId" FROM user_sessions',
    );
    return rows.map(({ userId }) => userId);
  };
  const gaps = (): Promise<{ source: string; from: Date; until: Date | null }[]> =>
    setup.dataSource.query('SELECT source, from_at AS "from", until_at AS until FROM delivery_gaps');

  it('leaves the sockets to the connector that started last, which has another transport', async () => {
    await addSession(user, { id: 'session', isHeld: true });
    await addSession('not-connected', { id: 'other', isHeld: true });
    await start('websocket');

    await eventually(async () => expect(await users()).toEqual([user]));
  });

  it('lists a channel that has just been connected, without a session, so that its subscriptions wait for its own socket', async () => {
    await addSession('88', { id: 'session', isHeld: true });
    await setup.dataSource.query(
      `INSERT INTO connections (id, client_id, state, user_id, login, scopes, access_token_encrypted, refresh_token_encrypted)
       SELECT $1, client_id, state, '88', 'nora', scopes, 'a', 'b' FROM connections`,
      [randomUUID()],
    );
    const sessions = new UserSessionsRepository(setup.dataSource);

    expect(await sessions.ofConnected(setup.config().PLATFORM_CLIENT_ID ?? '')).toEqual([
      { userId: user, sessionId: null, isHeld: false },
      { userId: '88', sessionId: 'session', isHeld: true },
    ]);
  });

  it('reports a gap from the stop of a connector whose sockets are no longer needed', async () => {
    await addSession(user, { id: 'session', isHeld: false });
    const { close } = await start('webhook');
    await eventually(async () => expect(await users()).toEqual([]));
    await close();

    expect(await gaps()).toEqual([
      { source: `user ${user}`, from: new Date(settledAt), until: expect.any(Date) },
    ]);
  });

  it('ends the gap of a socket that is no longer needed, and reports no other', async () => {
    await addSession(user, { id: null, isHeld: true });
    await setup.dataSource.query(
      `INSERT INTO delivery_gaps VALUES ($1, 'websocket', $2, $3, NULL, NULL, 'network error')`,
      [randomUUID(), `user ${user}`, settledAt],
    );
    const { close } = await start('webhook');
    await eventually(async () => expect(await users()).toEqual([]));
    await close();

    expect(await gaps()).toMatchObject([{ until: expect.any(Date) }]);
  });

  describe('with a socket server', () => {
    let server: WebSocketServer;
    let url: string;
    let connections: number;
    let instance: ConnectorInstance;

    beforeEach(async () => {
      server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      await once(server, 'listening');
      url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`; // Safe cast: the server listens on TCP.
      connections = 0;
      server.on('connection', (client) => {
        connections += 1;
        const session = { id: `session-${connections}`, keepalive_timeout_seconds: 600 };
        client.send(frame('session_welcome', session));
      });
      instance = await start('websocket', { PLATFORM_TRANSPORT: 'websocket', PLATFORM_SOCKET_URL: url });
      await eventually(async () => expect(await sessions()).toEqual([{ session_id: 'session-1' }]));
    });

    afterEach(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });

    const frame = (message_type: string, session: object): string =>
      JSON.stringify({
        metadata: { message_id: message_type, message_type, message_timestamp: '' },
        payload: { session },
      });
    const sessions = async (): Promise<unknown[]> =>
      setup.dataSource.query('SELECT session_id FROM user_sessions');
    const isHeld = async (): Promise<boolean | undefined> => {
      const [session] = await new UserSessionsRepository(setup.dataSource).all();
      return session?.isHeld;
    };

    // The simulator never renames sessions, and the platform's documentation does not say whether the platform does.
    it('follows a session that the platform renames in a reconnect', async () => {
      for (const client of server.clients) client.send(frame('session_reconnect', { id: 'session-1', reconnect_url: url })); // prettier-ignore
      await eventually(async () => expect(await sessions()).toEqual([{ session_id: 'session-2' }]));
    });

    it('keeps the socket while the lease cannot be renewed, and when the lease has expired', async () => {
      const renew = jest
        .spyOn(UserSessionsRepository.prototype, 'renew')
        .mockRejectedValue(new Error('no database'));
      await eventually(async () => expect(await isHeld()).toBe(false), patiently);
      // After two more attempts to renew, the connector has had time to claim the user again.
      const attempts = renew.mock.calls.length;
      await eventually(() => expect(renew.mock.calls.length).toBeGreaterThanOrEqual(attempts + 2));
      renew.mockRestore();
      await eventually(async () => expect(await isHeld()).toBe(true));

      expect(connections).toBe(1);
      expect(server.clients.size).toBe(1);
      expect(await sessions()).toEqual([{ session_id: 'session-1' }]);
    });

    it.each([
      [
        'keeps a session with subscriptions, so that the next connector reports a gap',
        'session-1',
        'session-1',
      ],
      ['forgets a session whose subscriptions have moved', null, null],
    ])('when the connector stops, %s', async (_, used, kept) => {
      await setup.dataSource.query(
        `INSERT INTO subscriptions (id, type, version, condition, subscription_id, callback, session_id, status)
         VALUES ($1, 'channel.cheer', '1', $2, 'a', $3, $4, 'enabled')`,
        [randomUUID(), { broadcaster_user_id: user }, used === null ? 'https://events.example' : null, used],
      );
      await instance.close();

      expect(await sessions()).toEqual([{ session_id: kept }]);
      expect(await isHeld()).toBe(false);
    });

    it('closes the socket when another connector has taken the lease', async () => {
      await setup.dataSource.query('UPDATE user_sessions SET holder = $1', [randomUUID()]);

      await eventually(() => expect(server.clients.size).toBe(0));
    });
  });
});

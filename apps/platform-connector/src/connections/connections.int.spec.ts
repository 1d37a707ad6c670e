import type { ConnectionMessage } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { FakeConsent } from '../../test/fake-consent.js';
import { ConnectionsRepository } from './connections.repository.js';
import { ConnectionsService } from './connections.service.js';

const refresh = 'POST /oauth2/token';

describe(ConnectionsService.name, () => {
  let setup: ConnectorSetup;
  let consent: FakeConsent;
  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });
  beforeEach(() => {
    consent = new FakeConsent(setup.fake);
  });
  afterEach(() => setup.reset());
  afterAll(() => setup.stop());

  const startInstance = async (environment: Record<string, string> = {}): Promise<ConnectorInstance> => {
    const instance = await setup.createInstance(environment);
    await instance.upkeep.start();
    return instance;
  };

  const untilState = async (
    { connections }: ConnectorInstance,
    id: string,
    state: string,
  ): Promise<ConnectionMessage> =>
    eventually(async () => {
      const connection = await connections.get(id);
      expect(connection.state).toBe(state);
      return connection;
    });

  const connect = async (instance: ConnectorInstance): Promise<string> => {
    consent.decision = 'granted';
    const { id } = await instance.connections.start();
    await untilState(instance, id, 'connected');
    return id;
  };

  const makeDue = (): Promise<unknown> =>
    setup.dataSource.query('UPDATE connections SET due_at = now() WHERE due_at IS NOT NULL');

  it('gets a code, waits for the consent, and connects', async () => {
    const instance = await startInstance();
    const started = await instance.connections.start();

    expect(started).toMatchObject({
      state: 'pending',
      userId: null,
      userCode: 'ABCDEFGH',
      verificationUri: 'https://platform.example/activate?device-code=ABCDEFGH',
      remedy: null,
    });
    expect(started.expiresAt! - started.createdAt).toBeCloseTo(1_800_000, -3);
    await eventually(() => expect(setup.fake.count(refresh)).toBeGreaterThan(1));
    expect((await instance.connections.get(started.id)).state).toBe('pending');

    consent.decision = 'granted';
    expect(await untilState(instance, started.id, 'connected')).toMatchObject({
      userId: '77',
      login: 'mira',
      scopes: ['bits:read'],
      userCode: null,
      verificationUri: null,
      expiresAt: null,
    });
  });

  it('ends when the code expires', async () => {
    const instance = await startInstance();
    consent.expiresInSeconds = 1;
    const { id } = await instance.connections.start();
    const { remedy, userCode } = await untilState(instance, id, 'expired');
    expect(remedy).toContain('Start a new connection');
    expect(userCode).toBeNull();
  });

  it('ends when the platform replies that it will never accept the code', async () => {
    const instance = await startInstance();
    consent.refusal = 'invalid grant type';
    consent.decision = 'refused';
    const { id } = await instance.connections.start();
    await untilState(instance, id, 'expired');
  });

  it('waits when the platform does not accept the code, which happens while users decide, and shows what to do', async () => {
    const instance = await startInstance();
    consent.decision = 'refused';
    const { id } = await instance.connections.start();
    const untilRemedy = (expected: unknown): Promise<void> =>
      eventually(async () => {
        const { state, remedy } = await instance.connections.get(id);
        expect({ state, remedy }).toEqual({ state: 'pending', remedy: expected });
      });
    await untilRemedy(expect.stringContaining('If the user refused, start a new connection'));
    consent.decision = 'pending';
    await untilRemedy(null);
    consent.decision = 'refused';
    await untilRemedy(expect.stringContaining('start a new connection'));

    consent.decision = 'granted';
    expect(await untilState(instance, id, 'connected')).toMatchObject({ login: 'mira', remedy: null });
  });

  it('replaces an earlier connection of the same user', async () => {
    const instance = await startInstance();
    await connect(instance);
    consent.user.scopes = ['bits:read', 'channel:read:polls'];
    const second = await connect(instance);

    expect(await instance.connections.list()).toMatchObject([
      { id: second, scopes: ['bits:read', 'channel:read:polls'] },
    ]);
  });

  it('goes on with the others when the platform fails for one', async () => {
    const instance = await startInstance();
    const failing = await connect(instance);
    consent.unverifiable.add(consent.issued.at(-2)!);
    consent.user = { user_id: '78', login: 'noa', scopes: ['bits:read'] };
    const id = await connect(instance);
    // Mark the connection as monitored. Otherwise, the attempts to reach the streamer monitor, which does not run here, would validate the
    // tokens.
    await setup.dataSource.query('UPDATE connections SET is_monitored = true');
    consent.expireAccessTokens();
    await makeDue();

    await eventually(() => expect(consent.refreshes).toBe(1));
    await eventually(async () => {
      const [row] = await setup.dataSource.query<{ minutes: number }[]>(
        'SELECT extract(epoch FROM due_at - now())::float / 60 AS minutes FROM connections WHERE id = $1',
        [id],
      );
      expect(row?.minutes).toBeGreaterThan(40);
    });
    expect((await instance.connections.get(failing)).state).toBe('connected');
  });

  it('asks a bot account for its scopes, beside the channel of the same user, and replaces an earlier bot', async () => {
    const instance = await startInstance();
    const channel = await connect(instance);
    const connectBot = async (): Promise<string> => {
      const { id, scopes } = await instance.connections.start({ role: 'bot' });
      expect(scopes).toEqual(['user:bot', 'user:read:chat', 'user:write:chat']);
      await untilState(instance, id, 'connected');
      return id;
    };
    await connectBot();
    consent.user = { user_id: '99', login: 'a_bot', scopes: ['user:bot'] };
    const bot = await connectBot();

    expect(await instance.connections.list()).toMatchObject([
      { id: channel, role: 'channel', login: 'mira' },
      { id: bot, role: 'bot', login: 'a_bot' },
    ]);
    await makeDue();
    // A connected channel becomes a streamer; a bot does not.
    await eventually(() => expect(setup.logs).toContain('cannot monitor a connected channel'));
    expect(setup.logs).not.toContain('"login":"a_bot"');
  });

  it('offers a connection until a user has been connected, the same while its code is valid', async () => {
    const instance = await startInstance();
    const offered = await instance.connections.offer();
    expect(offered).toMatchObject({ state: 'pending', userCode: 'ABCDEFGH' });
    expect((await instance.connections.offer())?.id).toBe(offered?.id);

    consent.decision = 'granted';
    await untilState(instance, offered!.id, 'connected');
    expect(await instance.connections.offer()).toBeUndefined();
  });

  it('limits the codes that wait', async () => {
    const instance = await startInstance();
    for (let index = 0; index < 10; index += 1) await instance.connections.start();

    await expect(instance.connections.start()).rejects.toMatchObject({ code: 'conflict' });
  });

  it('removes a connection with its tokens, and revokes them', async () => {
    const instance = await startInstance();
    const id = await connect(instance);

    await instance.connections.remove(id);

    expect(consent.validAccessTokens).toBe(0);
    expect(await instance.connections.list()).toEqual([]);
    await expect(instance.connections.remove(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('fails with the reason when the platform gives no code', async () => {
    const instance = await startInstance();
    setup.fake.fault = (_call, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: 400, message: 'invalid client' }));
      return true;
    };

    await expect(instance.connections.start()).rejects.toThrow(/invalid client/);
    expect(await instance.connections.list()).toEqual([]);
  });

  describe('by authorization code', () => {
    const publicUrl = 'https://events.example';
    const redirectUri = `${publicUrl}/api/v1/platform/connections/callback`;
    const startedBy = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';
    const startInBrowser = async (instance: ConnectorInstance) => {
      const started = await instance.connections.start({ flow: 'authorization_code', startedBy });
      const page = new URL(started.verificationUri ?? '');
      return { id: started.id, page, state: page.searchParams.get('state') ?? '' };
    };
    let instance: ConnectorInstance;
    beforeEach(async () => {
      instance = await startInstance({ PUBLIC_URL: publicUrl });
    });

    it('opens the page of the platform, and connects when the browser returns', async () => {
      const { id, page, state } = await startInBrowser(instance);
      expect(Object.fromEntries(page.searchParams)).toMatchObject({
        client_id: expect.any(String),
        redirect_uri: redirectUri,
        response_type: 'code',
        state: expect.stringMatching(new RegExp(`^${startedBy}\\.[\\w-]{43}$`)),
      });
      const code = consent.issueBrowserCode(redirectUri);
      expect(await instance.connections.complete({ state, code })).toMatchObject({
        id,
        verificationUri: null,
      });
      expect(await untilState(instance, id, 'connected')).toMatchObject({ login: 'mira' });

      const seen = [await setup.readTables(), setup.logs].join();
      for (const secret of [state, code]) expect(seen).not.toContain(secret);
    });

    it('accepts a state once, and only in time', async () => {
      const { state } = await startInBrowser(instance);
      const complete = () =>
        instance.connections.complete({ state, code: consent.issueBrowserCode(redirectUri) });
      await complete();
      await expect(complete()).rejects.toMatchObject({ code: 'not_found' });

      const late = await startInBrowser(instance);
      await setup.dataSource.query(
        'UPDATE connections SET expires_at = now(), due_at = now() WHERE id = $1',
        [late.id],
      );
      const code = consent.issueBrowserCode(redirectUri);
      await expect(instance.connections.complete({ state: late.state, code })).rejects.toMatchObject({
        code: 'not_found',
      });
      await untilState(instance, late.id, 'expired');
    });

    it('ends when the user refuses, and when the platform refuses the code', async () => {
      const refused = await startInBrowser(instance);
      await expect(instance.connections.complete({ state: refused.state })).rejects.toMatchObject({
        code: 'conflict',
      });
      const wrong = await startInBrowser(instance);
      const code = consent.issueBrowserCode('https://elsewhere.example/callback');
      await expect(instance.connections.complete({ state: wrong.state, code })).rejects.toMatchObject({
        code: 'conflict',
      });
      const misconfigured = await startInBrowser(instance);
      consent.acceptsSecret = false;
      await expect(
        instance.connections.complete({ state: misconfigured.state, code: consent.issueBrowserCode('any') }),
      ).rejects.toThrow('Check PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET');
      expect((await instance.connections.get(misconfigured.id)).remedy).toContain('invalid client secret');

      for (const { id } of [refused, wrong, misconfigured])
        expect(await instance.connections.get(id)).toMatchObject({
          state: 'expired',
          remedy: expect.stringContaining('Start a new connection'),
        });
    });

    it('needs an address to return to', async () => {
      const local = await startInstance();
      await expect(startInBrowser(local)).rejects.toMatchObject({ code: 'conflict' });
    });
  });

  describe('the tokens', () => {
    /** Starts a refresh, and holds back the platform's reply to it. */
    const refreshWithHeldReply = async (
      instance: ConnectorInstance,
    ): Promise<{ id: string; refused: string; token: Promise<string | null> }> => {
      const id = await connect(instance);
      const refused = consent.issued.at(-2)!;
      consent.expireAccessTokens();
      consent.holdsReplyTo = refresh;
      const token = instance.userTokens.refresh(id, refused);
      // Prevent an unhandled rejection. The test sees a failure when it awaits the token.
      token.catch(() => undefined);
      await eventually(() => expect(consent.held).toBe(1));
      return { id, refused, token };
    };

    it('are encrypted, and in no log', async () => {
      const instance = await startInstance();
      await connect(instance);
      consent.expireAccessTokens();
      await makeDue();
      await eventually(() => expect(consent.refreshes).toBe(1));
      await eventually(async () => expect((await instance.connections.list())[0]?.state).toBe('connected'));
      const seen = [
        await setup.readTables(),
        setup.logs,
        JSON.stringify(await instance.connections.list()),
      ].join();

      expect(consent.issued).toHaveLength(5);
      for (const secret of consent.issued) expect(seen).not.toContain(secret);
    });

    it('are refreshed once for fifty calls that get 401 at the same time, at two instances', async () => {
      const instances = [await startInstance(), await setup.createInstance()];
      const id = await connect(instances[0]!);
      const refused = consent.issued.at(-2)!;
      consent.expireAccessTokens();

      const tokens = await Promise.all(
        Array.from({ length: 50 }, (_, index) => instances[index % 2]!.userTokens.refresh(id, refused)),
      );

      expect(consent.refreshes).toBe(1);
      expect(new Set(tokens).size).toBe(1);
      expect(consent.isValid(tokens[0]!)).toBe(true);
    });

    it('are lost when the user disconnects, which shows what to do', async () => {
      const instance = await startInstance();
      const id = await connect(instance);
      consent.disconnect();
      await makeDue();

      expect((await untilState(instance, id, 'reconnect_needed')).remedy).toContain(
        'Connect the channel again',
      );
      expect(await instance.userTokens.refresh(id, 'any')).toBeNull();
      expect(consent.refreshes).toBe(1);
      await connect(instance);
      expect(await instance.connections.list()).toHaveLength(1);
    });

    it('are kept when the platform rejects the application, because its secret is not configured', async () => {
      const instance = await startInstance();
      const id = await connect(instance);
      const refused = consent.issued.at(-2)!;
      consent.expireAccessTokens();
      consent.needsSecret = true;
      const withoutSecret = await setup.createInstance({ PLATFORM_CLIENT_SECRET: '' });
      await expect(withoutSecret.userTokens.refresh(id, refused)).rejects.toThrow(
        'Check PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET',
      );

      expect((await instance.connections.get(id)).state).toBe('connected');
      expect(consent.isValid((await instance.userTokens.refresh(id, refused)) ?? '')).toBe(true);
    });

    it('are reported as lost, without a loop, when the reply to a refresh is lost', async () => {
      const instance = await startInstance();
      const id = await connect(instance);
      consent.expireAccessTokens();
      consent.losesReplyTo = refresh;
      await makeDue();
      await eventually(() => expect(consent.refreshes).toBe(1));

      await eventually(async () => {
        await makeDue();
        expect((await instance.connections.get(id)).state).toBe('reconnect_needed');
      });
      expect(consent.refreshes).toBe(2);
    });

    it('are kept when the reply to a refresh takes longer than other replies may', async () => {
      const instance = await startInstance();
      const { token } = await refreshWithHeldReply(instance);
      // Release the reply after the limit of other calls (3.5 s) but before the limit of a refresh (8 s).
      setTimeout(() => consent.releaseReplies(), 3_600);

      expect(consent.isValid((await token) ?? '')).toBe(true);
      expect(consent.refreshes).toBe(1);
    });

    it('are saved again when the connection to the database breaks before the commit', async () => {
      const instance = await startInstance();
      const { id, refused, token } = await refreshWithHeldReply(instance);
      await setup.dataSource.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
      consent.releaseReplies();

      expect(consent.isValid((await token) ?? '')).toBe(true);
      expect(await instance.userTokens.refresh(id, refused)).toBe(await token);
      expect(consent.refreshes).toBe(1);
    });

    it('are saved before a connector stops that is still refreshing them', async () => {
      const instance = await startInstance();
      const { token } = await refreshWithHeldReply(instance);
      setTimeout(() => consent.releaseReplies(), 1_000);
      await instance.close();

      expect(consent.isValid((await token) ?? '')).toBe(true);
    });

    it('that a crashed instance has saved are validated by the next one', async () => {
      const instance = await setup.createInstance();
      const { id } = await instance.connections.start();
      const repository = new ConnectionsRepository(setup.dataSource, setup.config());
      consent.decision = 'granted';
      // Simulate a first instance that gets the tokens, saves them, and crashes.
      const claimed = (await repository.find(id))!;
      const response = await fetch(`http://127.0.0.1:${setup.fake.port}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          device_code: repository.deviceCodeOf(claimed)!,
        }),
      });
      const { access_token: accessToken, refresh_token: refreshToken } = (await response.json()) as Record<
        string,
        string
      >;
      await repository.saveTokens(id, { accessToken: accessToken!, refreshToken: refreshToken! });
      await makeDue();

      await instance.upkeep.start();

      expect(await untilState(instance, id, 'connected')).toMatchObject({ login: 'mira' });
    });
  });
});

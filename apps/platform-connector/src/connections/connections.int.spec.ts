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

  const startInstance = async (): Promise<ConnectorInstance> => {
    const instance = await setup.createInstance();
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

  /** Connects a channel, and returns the id of its connection. */
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

  it('ends when the user refuses, and when the code expires', async () => {
    const instance = await startInstance();
    consent.decision = 'refused';
    const refused = await instance.connections.start();
    const { remedy, userCode } = await untilState(instance, refused.id, 'expired');
    expect(remedy).toContain('Start a new connection');
    expect(userCode).toBeNull();

    consent.decision = 'pending';
    consent.expiresInSeconds = 1;
    const late = await instance.connections.start();
    await untilState(instance, late.id, 'expired');
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

  describe('the tokens', () => {
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

    it('that a crashed instance has saved are validated by the next one', async () => {
      const instance = await setup.createInstance();
      const { id } = await instance.connections.start();
      const repository = new ConnectionsRepository(setup.dataSource, setup.config());
      consent.decision = 'granted';
      // The first instance gets the tokens, saves them, and crashes.
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

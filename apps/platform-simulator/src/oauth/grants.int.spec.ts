import { eventually } from '@stream-events/testing';
import { DeviceLogin, SimulatorSetup, type Reply } from '../../test/simulator-setup.js';
import { isNotification, type Received } from '../../test/webhook-receiver.js';

const path = '/helix/eventsub/subscriptions';

describe('grants of the simulated platform', () => {
  let setup: SimulatorSetup;
  let device: DeviceLogin;

  beforeEach(async () => {
    setup = await SimulatorSetup.start({ SIMULATOR_GRANTS: 'explicit' });
    device = new DeviceLogin(setup, 'an-application');
    for (const [login, id] of [
      ['mira', '77'],
      ['nora', '78'],
    ])
      await setup.call('POST', '/simulator/users', { login, id });
  });

  afterEach(() => setup.close());

  const create = (type: string, version: string, condition: object): Promise<Reply> =>
    setup.call('POST', path, setup.subscription({ type, version, condition }));
  const cheers = (): Promise<Reply> => create('channel.cheer', '1', { broadcaster_user_id: '77' });
  const disconnect = (login = 'mira') =>
    setup.call('DELETE', '/simulator/grants', { login, client_id: 'an-application' });
  const forbidden = {
    status: 403,
    json: { error: 'Forbidden', status: 403, message: 'subscription missing proper authorization' },
  };

  describe('POST /helix/eventsub/subscriptions', () => {
    it('responds with 403 until the user has granted a scope of the type to this application', async () => {
      expect(await cheers()).toMatchObject(forbidden);
      await device.logIn('mira', 'channel:read:polls');
      await new DeviceLogin(setup, 'another').logIn('mira', 'bits:read');
      await device.logIn('nora', 'bits:read');
      expect(await cheers()).toMatchObject(forbidden);
      await device.logIn('mira', 'bits:read');
      expect((await cheers()).status).toBe(202);
    });

    it('requires the scopes of the moderator, and for chat those of the reader and the broadcaster', async () => {
      const follow = { broadcaster_user_id: '77', moderator_user_id: '78' };
      const chat = { broadcaster_user_id: '77', user_id: '78' };
      await device.logIn('mira', 'moderator:read:followers user:read:chat user:bot');
      expect(await create('channel.follow', '2', follow)).toMatchObject(forbidden);
      await device.logIn('nora', 'moderator:read:followers user:read:chat user:bot');
      expect((await create('channel.follow', '2', follow)).status).toBe(202);
      expect(await create('channel.chat.message', '1', chat)).toMatchObject(forbidden);
      await device.logIn('mira', 'channel:bot');
      expect((await create('channel.chat.message', '1', chat)).status).toBe(202);
    });

    it('costs nothing for a user who has authorized the application', async () => {
      const costOf = async (id: string): Promise<unknown> =>
        (await create('stream.online', '1', { broadcaster_user_id: id })).json.total_cost;
      await device.logIn('mira', 'bits:read');
      expect([await costOf('77'), await costOf('78')]).toEqual([0, 1]);
    });

    it('needs no grant by default, until the user disconnects', async () => {
      await setup.call('POST', '/simulator/limits', { grants: 'everyone' });
      expect((await cheers()).status).toBe(202);
      await disconnect();
      expect(await cheers()).toMatchObject(forbidden);
    });
  });

  describe('GET /helix/authorization/users', () => {
    const list = (query: string, headers = setup.authorization): Promise<Reply> =>
      setup.call('GET', `/helix/authorization/users?${query}`, undefined, headers);

    it('lists what the users have granted, in the order of the query', async () => {
      await device.logIn('mira', 'bits:read');
      await device.logIn('mira', 'channel:read:polls');
      expect((await list('user_id=78&user_id=none&user_id=77')).json.data).toEqual([
        { user_id: '78', user_login: 'nora', user_name: 'nora', scopes: [], has_authorized: false },
        {
          ...{ user_id: '77', user_login: 'mira', user_name: 'mira', has_authorized: true },
          scopes: ['bits:read', 'channel:read:polls'],
        },
      ]);
    });

    it('requires one to ten ids, and an app access token', async () => {
      expect((await list('')).status).toBe(400);
      const ids = Array.from({ length: 11 }, (_, id) => `user_id=${id}`).join('&');
      expect((await list(ids)).status).toBe(400);
      const { headers } = await device.logIn('mira');
      expect((await list('user_id=77', headers)).status).toBe(401);
    });
  });

  describe('a user who disconnects the application', () => {
    const statuses = async (): Promise<string[]> =>
      (await setup.call('GET', path)).json.data.map(({ status }) => status);
    const isRevocation = ({ headers }: Received): boolean =>
      headers['twitch-eventsub-message-type'] === 'revocation';

    it('ends the subscriptions that need the user, and no others', async () => {
      for (const login of ['mira', 'nora']) await device.logIn(login, 'bits:read');
      for (const [type, id] of [
        ['channel.cheer', '77'],
        ['channel.cheer', '78'],
        ['stream.online', '77'],
      ] as const)
        await setup.subscribe({ type, version: '1', condition: { broadcaster_user_id: id } });
      expect((await disconnect()).status).toBe(204);
      expect(await statuses()).toEqual(['authorization_revoked', 'enabled', 'enabled']);
      const [revocation] = await setup.receiver.waitFor(1, isRevocation);
      expect(revocation?.json.subscription).toMatchObject({
        type: 'channel.cheer',
        condition: { broadcaster_user_id: '77' },
        status: 'authorization_revoked',
      });
      expect(await cheers()).toMatchObject(forbidden);
    });

    it('invalidates both tokens', async () => {
      const { headers, refreshToken } = await device.logIn('mira', 'bits:read');
      await disconnect();
      expect((await setup.call('GET', '/helix/users', undefined, headers)).status).toBe(401);
      const form = { client_id: 'an-application', client_secret: 'its-secret', refresh_token: refreshToken };
      const refresh = new URLSearchParams({ ...form, grant_type: 'refresh_token' });
      expect((await setup.call('POST', '/oauth2/token', refresh)).status).toBe(400);
    });

    it('is reported to the application, as is the grant', async () => {
      for (const type of ['user.authorization.grant', 'user.authorization.revoke'])
        await setup.subscribe({ type, version: '1', condition: { client_id: 'an-application' } });
      await new DeviceLogin(setup, 'another').logIn('nora');
      await device.logIn('mira', 'bits:read');
      await disconnect();
      const events = await setup.receiver.waitFor(2, isNotification);
      const user = { client_id: 'an-application', user_id: '77', user_login: 'mira', user_name: 'mira' };
      expect(events.map(({ json }) => [json.subscription.type, json.event])).toEqual([
        ['user.authorization.grant', user],
        ['user.authorization.revoke', user],
      ]);
    });

    it('disconnects when the account is removed', async () => {
      const type = 'user.authorization.revoke';
      await setup.subscribe({ type, version: '1', condition: { client_id: 'an-application' } });
      const { headers } = await device.logIn('mira', 'bits:read');
      await setup.call('DELETE', '/simulator/users/77');
      expect((await setup.call('GET', '/helix/users', undefined, headers)).status).toBe(401);
      const [revoke] = await setup.receiver.waitFor(1, isNotification);
      expect(revoke?.json.event).toMatchObject({ user_id: '77', user_login: null, user_name: null });
    });
  });

  it('can be made and listed through the control API', async () => {
    const grant = { login: 'mira', client_id: 'an-application', scopes: ['bits:read'] };
    const view = { client_id: 'an-application', user_id: '77', scopes: ['bits:read'] };
    expect(await setup.call('POST', '/simulator/grants', grant)).toMatchObject({ status: 200, json: view });
    expect((await setup.call('GET', '/simulator/grants')).json.grants).toEqual([view]);
    expect((await cheers()).status).toBe(202);
    await eventually(async () =>
      expect((await setup.call('GET', path)).json.data[0]?.status).toBe('enabled'),
    );
    for (const fault of [{ login: 'nobody' }, { scopes: ['everything'] }, { scopes: undefined }])
      expect((await setup.call('POST', '/simulator/grants', { ...grant, ...fault })).status).not.toBe(200);
  });
});

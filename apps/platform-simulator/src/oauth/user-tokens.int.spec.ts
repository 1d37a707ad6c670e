import { jest } from '@jest/globals';
import { stopClock } from '../../test/clock.js';
import { DeviceLogin, SimulatorSetup, type Reply, type UserLogin } from '../../test/simulator-setup.js';

describe('user access tokens of the simulated platform', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
  });

  afterEach(() => {
    jest.restoreAllMocks();
    return setup.close();
  });

  const logIn = (clientId?: string): Promise<UserLogin> =>
    new DeviceLogin(setup, clientId).logIn('mira', 'bits:read');

  const refresh = (refresh_token: string, more: Record<string, string> = {}): Promise<Reply> => {
    const form = { client_id: 'a-public-application', grant_type: 'refresh_token', refresh_token, ...more };
    return setup.call('POST', '/oauth2/token', new URLSearchParams(form));
  };

  const validate = async (token: string): Promise<{ status: number; json: unknown }> => {
    const headers = { authorization: `OAuth ${token}` };
    const response = await fetch(`${setup.simulator.url}/oauth2/validate`, { headers });
    return { status: response.status, json: await response.json() };
  };
  const lookUp = (headers: Record<string, string>) => setup.call('GET', '/helix/users', undefined, headers);
  const invalid = { status: 400, json: { status: 400, message: 'Invalid refresh token' } };

  it('name the user and the scopes', async () => {
    const { accessToken, headers } = await logIn();
    expect(await validate(accessToken)).toEqual({
      status: 200,
      json: {
        client_id: 'a-public-application',
        login: 'mira',
        user_id: '77',
        scopes: ['bits:read'],
        expires_in: expect.any(Number),
      },
    });
    expect((await lookUp(headers)).json.data).toMatchObject([{ id: '77', login: 'mira' }]);
  });

  it('expire after four hours, and can be refreshed', async () => {
    const pass = stopClock();
    const { headers, refreshToken } = await logIn();
    pass(14_400_000 - 1);
    expect((await lookUp(headers)).status).toBe(200);
    pass(1);
    expect((await lookUp(headers)).status).toBe(401);
    const { json } = await refresh(refreshToken);
    expect(json).toMatchObject({ expires_in: 14_400, scope: ['bits:read'], token_type: 'bearer' });
    const authorization = `Bearer ${String(json.access_token)}`;
    expect((await lookUp({ ...headers, authorization })).status).toBe(200);
  });

  it('can be revoked, and then still refreshed', async () => {
    const { accessToken, refreshToken } = await logIn();
    const form = new URLSearchParams({ client_id: 'a-public-application', token: accessToken });
    expect((await setup.call('POST', '/oauth2/revoke', form)).status).toBe(200);
    expect((await validate(accessToken)).status).toBe(401);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it('fail to validate as often as that fault says', async () => {
    const { accessToken } = await logIn();
    await setup.call('PATCH', '/simulator', { faults: { oauth: { validate_fails: 1 } } });
    expect((await validate(accessToken)).status).toBe(401);
    expect((await validate(accessToken)).status).toBe(200);
  });

  describe('of a public client', () => {
    it('have refresh tokens that work once', async () => {
      const { refreshToken } = await logIn();
      const { json } = await refresh(refreshToken);
      expect(json.refresh_token).not.toBe(refreshToken);
      expect(await refresh(refreshToken)).toMatchObject(invalid);
      expect((await refresh(String(json.refresh_token))).status).toBe(200);
    });

    it('have refresh tokens that expire after 30 days', async () => {
      const pass = stopClock();
      const [first, second] = [await logIn(), await logIn()];
      pass(30 * 86_400_000 - 1);
      expect((await refresh(first.refreshToken)).status).toBe(200);
      pass(1);
      expect(await refresh(second.refreshToken)).toMatchObject(invalid);
    });

    it('lose their refresh token when the response is lost', async () => {
      const { refreshToken } = await logIn();
      await setup.call('PATCH', '/simulator', { faults: { oauth: { refresh_replies_lost: 1 } } });
      await expect(refresh(refreshToken)).rejects.toThrow('fetch failed');
      expect(await refresh(refreshToken)).toMatchObject(invalid);
    });

    it('are the only access tokens: a request for an app access token gets 403', async () => {
      await setup.call('POST', '/simulator/applications', { client_id: 'public' });
      const form = { client_id: 'public', client_secret: 'guess', grant_type: 'client_credentials' };
      const { status } = await setup.call('POST', '/oauth2/token', new URLSearchParams(form));
      expect(status).toBe(403);
      expect((await setup.call('GET', '/simulator/applications')).json.applications).toContainEqual({
        client_id: 'public',
        name: 'public',
        is_public: true,
        redirect_uris: [],
      });
    });
  });

  describe('of a confidential client', () => {
    const credentials = { client_id: 'an-application', client_secret: 'its-secret' };

    it('are issued without the secret but refreshed only with it, as often as needed', async () => {
      const { refreshToken } = await logIn('an-application');
      const { client_id } = credentials;
      expect(await refresh(refreshToken, { client_id })).toMatchObject({
        status: 400,
        json: { status: 400, message: 'missing client secret' },
      });
      expect((await refresh(refreshToken, { client_id, client_secret: 'wrong' })).status).toBe(403);
      for (const _ of [1, 2]) {
        const { status, json } = await refresh(refreshToken, credentials);
        expect([status, json.refresh_token]).toEqual([200, refreshToken]);
      }
    });

    it('fail to refresh as often as that fault says', async () => {
      const { refreshToken } = await logIn('an-application');
      await setup.call('PATCH', '/simulator', { faults: { oauth: { refresh_fails: 1 } } });
      expect(await refresh(refreshToken, credentials)).toMatchObject(invalid);
      expect((await refresh(refreshToken, credentials)).status).toBe(200);
    });
  });
});

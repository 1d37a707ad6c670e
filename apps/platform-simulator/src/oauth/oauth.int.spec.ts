import { jest } from '@jest/globals';
import { stopClock } from '../../test/clock.js';
import { SimulatorSetup } from '../../test/simulator-setup.js';

const credentials = { client_id: 'app', client_secret: 'secret', grant_type: 'client_credentials' };

describe('OAuth of the simulated platform', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    return setup.close();
  });

  const getToken = (overrides: Record<string, string> = {}) =>
    setup.call('POST', '/oauth2/token', new URLSearchParams({ ...credentials, ...overrides }));

  const lookUp = (headers: Record<string, string>) =>
    setup.call('GET', '/helix/users?login=sim_pixelforge', undefined, headers);

  const validate = async (token: string): Promise<{ status: number; json: unknown }> => {
    const headers = { authorization: `OAuth ${token}` };
    const response = await fetch(`${setup.simulator.url}/oauth2/validate`, { headers });
    return { status: response.status, json: await response.json() };
  };

  describe('POST /oauth2/token', () => {
    it('ignores the content type of an empty body, which Python’s aiohttp sends', async () => {
      const query = new URLSearchParams(credentials).toString();
      const headers = { 'content-type': 'application/octet-stream' };
      const url = `${setup.simulator.url}/oauth2/token?${query}`;
      expect((await fetch(url, { method: 'POST', headers })).status).toBe(200);
      expect((await fetch(url, { method: 'POST', headers, body: 'x' })).status).toBe(415);
    });

    it('issues an access token for 60 days', async () => {
      const { status, json } = await getToken();
      expect(status).toBe(200);
      expect(json).toEqual({
        access_token: expect.stringMatching(/^[0-9a-f]{30}$/),
        expires_in: 5_184_000,
        token_type: 'bearer',
      });
      expect(await validate(String(json.access_token))).toEqual({
        status: 200,
        json: { client_id: 'app', scopes: null, expires_in: expect.any(Number) },
      });
    });

    it('accepts only the secret that a client id was first used with', async () => {
      expect((await getToken()).status).toBe(200);
      expect((await getToken()).status).toBe(200);
      const { status, json } = await getToken({ client_secret: 'another' });
      expect({ status, json }).toEqual({
        status: 403,
        json: { status: 403, message: 'invalid client secret' },
      });
    });

    it.each([
      [{ client_id: '' }, 'missing client id'],
      [{ client_secret: '' }, 'missing client secret'],
      [{ grant_type: 'password' }, 'invalid grant type'],
      [{ grant_type: 'authorization_code' }, 'missing code'],
    ])('responds with 400 to %j', async (fault, message) => {
      const { status, json } = await getToken(fault);
      expect({ status, message: json.message }).toEqual({
        status: 400,
        message: expect.stringContaining(message),
      });
    });

    it('accepts only the configured application', async () => {
      const other = await SimulatorSetup.start({
        PLATFORM_CLIENT_ID: 'app',
        PLATFORM_CLIENT_SECRET: 'secret',
      });
      const ask = async (overrides: Record<string, string>): Promise<number> => {
        const form = new URLSearchParams({ ...credentials, ...overrides });
        return (await other.call('POST', '/oauth2/token', form)).status;
      };
      expect(await ask({})).toBe(200);
      expect(await ask({ client_secret: 'wrong' })).toBe(403);
      expect(await ask({ client_id: 'stranger' })).toBe(400);
      await other.close();
    });
  });

  describe('a call of /helix', () => {
    it('is rejected with the platform’s 401 without a valid token and its client id', async () => {
      const { authorization = '' } = setup.authorization;
      const faults: [Record<string, string>, string][] = [
        [{ 'client-id': 'an-application' }, 'OAuth token is missing'],
        [{ authorization }, 'Client ID is missing'],
        [{ authorization: 'Bearer nonsense', 'client-id': 'an-application' }, 'Invalid OAuth token'],
        [{ authorization, 'client-id': 'another' }, 'Client ID and OAuth token do not match'],
      ];
      for (const [headers, message] of faults) {
        const { status, json } = await lookUp(headers);
        expect({ status, json }).toEqual({
          status: 401,
          json: { error: 'Unauthorized', status: 401, message },
        });
      }
      expect((await lookUp(setup.authorization)).status).toBe(200);
    });

    it('is rejected with 401 when the token has expired', async () => {
      const pass = stopClock();
      await setup.call('POST', '/simulator/limits', { token_seconds: 1 });
      const headers = await setup.authorize('an-application', 'its-secret');
      pass(999);
      expect((await lookUp(headers)).status).toBe(200);
      pass(1);
      expect((await lookUp(headers)).status).toBe(401);
    });

    it('is rejected with 401 when the application has revoked its token', async () => {
      const token = setup.authorization.authorization!.slice('Bearer '.length);
      const revoke = (client_id: string) =>
        setup.call('POST', '/oauth2/revoke', new URLSearchParams({ client_id, token }));
      expect((await revoke('nobody')).status).toBe(404);
      expect((await revoke('an-application')).status).toBe(200);
      expect((await revoke('an-application')).status).toBe(400);
      expect((await lookUp(setup.authorization)).status).toBe(401);
      expect((await validate(token)).status).toBe(401);
    });

    it('is rejected with 401 when all tokens were revoked, and succeeds with a new one', async () => {
      expect(await setup.call('POST', '/simulator/tokens/revoke')).toMatchObject({ json: { revoked: 1 } });
      expect((await lookUp(setup.authorization)).status).toBe(401);
      expect((await lookUp(await setup.authorize('an-application', 'its-secret'))).status).toBe(200);
    });
  });

  describe('the rate limit', () => {
    const rateLimitOf = ({ headers }: { headers: Headers }): number[] =>
      ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)));

    it('is in every response, including errors', async () => {
      stopClock(); // otherwise the bucket would regain a point every 75 ms
      const [limit, remaining, reset] = rateLimitOf(await lookUp(setup.authorization));
      expect([limit, remaining]).toEqual([800, 799]);
      expect(reset).toBe(Math.ceil((Date.now() + 75) / 1_000));
      const refused = await setup.call('GET', '/helix/users');
      expect([refused.status, rateLimitOf(refused)[1]]).toEqual([400, 798]);
      expect(rateLimitOf(await lookUp({}))[0]).toBe(800);
    });

    it('responds with 429 to one application when its bucket is empty, until the bucket refills', async () => {
      const pass = stopClock();
      await setup.call('POST', '/simulator/limits', { rate_limit: 6 }); // one point every 10 s
      for (let call = 0; call < 6; call += 1) await lookUp(setup.authorization);
      const exceeded = await lookUp(setup.authorization);
      expect(exceeded).toMatchObject({ status: 429, json: { error: 'Too Many Requests', status: 429 } });
      expect(rateLimitOf(exceeded).slice(0, 2)).toEqual([6, 0]);
      expect(rateLimitOf(exceeded)[2]).toBe(Math.ceil((Date.now() + 60_000) / 1_000));
      expect((await lookUp(await setup.authorize('another', 'secret'))).status).toBe(200);
      pass(9_999);
      expect((await lookUp(setup.authorization)).status).toBe(429);
      pass(1);
      expect((await lookUp(setup.authorization)).status).toBe(200);
    });
  });

  it('marks every response as simulated', async () => {
    for (const path of ['/helix/users', '/helix/nothing', '/oauth2/validate', '/simulator', '/nothing']) {
      const { headers } = await fetch(setup.simulator.url + path);
      expect([path, headers.get('x-platform-simulation')]).toEqual([path, 'true']);
    }
  });
});

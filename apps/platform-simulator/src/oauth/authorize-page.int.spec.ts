import { SimulatorSetup, type Reply } from '../../test/simulator-setup.js';

describe('the authorize page of the simulated platform', () => {
  let setup: SimulatorSetup;
  let redirectUri: string;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
    redirectUri = `${setup.receiver.url}/return?from=here`;
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
    await setup.call('POST', '/simulator/applications', {
      client_id: 'an-application',
      client_secret: 'its-secret',
      name: 'My events',
      redirect_uris: [redirectUri],
    });
  });

  afterEach(() => setup.close());

  /** Contains characters that are special in a URL or in HTML. */
  const state = `&="'<>+ %41/?#é`;
  const request = (changes: Record<string, string> = {}): Record<string, string> => ({
    client_id: 'an-application',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'bits:read channel:read:polls',
    state,
    ...changes,
  });

  const open = (changes?: Record<string, string>): Promise<Response> =>
    fetch(`${setup.simulator.url}/oauth2/authorize?${new URLSearchParams(request(changes)).toString()}`);

  const send = (fields: Record<string, string>): Promise<Response> =>
    fetch(`${setup.simulator.url}/oauth2/authorize`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: setup.simulator.url },
      body: new URLSearchParams({ ...request(), ...fields }),
    });

  const exchange = (code: string, changes: Record<string, string> = {}): Promise<Reply> => {
    const form = {
      client_id: 'an-application',
      client_secret: 'its-secret',
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      code,
      ...changes,
    };
    return setup.call('POST', '/oauth2/token', new URLSearchParams(form));
  };

  const allow = async (): Promise<URL> => {
    const { status, headers } = await send({ login: 'mira', decision: 'allow' });
    expect(status).toBe(303);
    return new URL(headers.get('location') ?? '');
  };

  it('shows the application and the scopes in words, and cannot be framed', async () => {
    const response = await open();
    const page = await response.text();
    for (const part of ['My events', 'SIMULATED', 'bits:read', 'See polls', 'value="mira"'])
      expect(page.toLowerCase()).toContain(part.toLowerCase());
    expect(page).not.toContain(state); // the page must escape it
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('returns the user with a code, the scopes, and the unchanged state', async () => {
    const url = await allow();
    expect(url.href.startsWith(`${setup.receiver.url}/return?from=here&`)).toBe(true);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      from: 'here',
      code: expect.stringMatching(/^\w{30}$/),
      scope: 'bits:read channel:read:polls',
      state,
    });
    expect(await exchange(url.searchParams.get('code') ?? '')).toMatchObject({
      status: 200,
      json: { scope: ['bits:read', 'channel:read:polls'], token_type: 'bearer', expires_in: 14_400 },
    });
  });

  it('returns the user with the denial', async () => {
    const { headers } = await send({ decision: 'deny' });
    expect(Object.fromEntries(new URL(headers.get('location') ?? '').searchParams)).toEqual({
      from: 'here',
      error: 'access_denied',
      error_description: 'The user denied you access',
      state,
    });
  });

  it('issues codes that work once, with the same address and the secret', async () => {
    const code = async (): Promise<string> => (await allow()).searchParams.get('code') ?? '';
    const invalid = { status: 400, json: { status: 400, message: 'Invalid authorization code' } };
    const used = await code();
    expect((await exchange(used)).status).toBe(200);
    expect(await exchange(used)).toMatchObject(invalid);
    expect(await exchange(await code(), { redirect_uri: `${redirectUri}&more` })).toMatchObject(invalid);
    expect(await exchange(await code(), { client_secret: '' })).toMatchObject({
      status: 400,
      json: { message: 'missing client secret' },
    });
    expect((await exchange(await code(), { client_secret: 'wrong' })).status).toBe(403);
  });

  it.each<[string, Record<string, string>, string]>([
    ['another address', { redirect_uri: 'http://127.0.0.1:9/' }, 'does not match registered URI'],
    ['another query', { redirect_uri: 'http://127.0.0.1/return' }, 'does not match registered URI'],
    ['no address', { redirect_uri: '' }, 'missing redirect uri'],
    ['no application', { client_id: '' }, 'missing client id'],
    ['another response type', { response_type: 'token' }, 'response_type'],
    ['an unknown scope', { scope: 'everything' }, "invalid scope requested: 'everything'"],
  ])('rejects %s without a redirect', async (_, changes, message) => {
    for (const response of [
      await open(changes),
      await send({ ...changes, decision: 'allow', login: 'mira' }),
    ]) {
      expect(response.headers.get('location')).toBeNull();
      expect([response.status, await response.json()]).toEqual([
        400,
        { status: 400, message: expect.stringContaining(message) },
      ]);
    }
  });

  it('accepts any address of a gateway for an application without registered ones', async () => {
    const client_id = 'unregistered';
    const gateway = `${setup.receiver.url}/anything`;
    expect((await open({ client_id, redirect_uri: gateway })).status).toBe(200);
    expect((await open({ client_id, redirect_uri: 'http://evil.example/webhook' })).status).toBe(400);
    expect((await open({ client_id, redirect_uri: 'javascript:alert(1)' })).status).toBe(400);
  });
});

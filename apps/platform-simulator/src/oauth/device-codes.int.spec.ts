import { jest } from '@jest/globals';
import { stopClock } from '../../test/clock.js';
import { DeviceLogin, SimulatorSetup } from '../../test/simulator-setup.js';

describe('device codes of the simulated platform', () => {
  let setup: SimulatorSetup;
  let device: DeviceLogin;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
    device = new DeviceLogin(setup);
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
  });

  afterEach(() => {
    jest.restoreAllMocks();
    return setup.close();
  });

  const decide = (user_code: string, decision: string, login?: string) =>
    setup.call('POST', '/simulator/device-codes', { user_code, decision, login });

  const pollOf = async (deviceCode: string): Promise<unknown> => {
    const { status, json } = await device.poll(deviceCode);
    return status === 200 ? 'token' : json;
  };
  const pending = { status: 400, message: 'authorization_pending' };
  const invalid = { status: 400, message: 'invalid device code' };

  it('are issued with the address of a page', async () => {
    const { user_code, ...reply } = await device.start('bits:read channel:read:polls');
    expect(user_code).toMatch(/^[A-Z]{8}$/);
    expect(reply).toEqual({
      device_code: expect.stringMatching(/^\w{30}$/),
      expires_in: 1_800,
      interval: 5,
      verification_uri: `${setup.simulator.url}/activate?public=true&device-code=${user_code}`,
    });
    expect((await setup.call('GET', '/simulator/device-codes')).json.device_codes).toEqual([
      { user_code, client_id: 'a-public-application', scopes: ['bits:read', 'channel:read:polls'] },
    ]);
  });

  it('ignore scopes in the query, and the parameter scope', async () => {
    const form = new URLSearchParams({ client_id: 'a', scope: 'bits:read' });
    const { status } = await setup.call('POST', '/oauth2/device?scopes=bits:read', form);
    expect(status).toBe(200);
    const inQuery = await setup.call('POST', '/oauth2/device?client_id=a', new URLSearchParams());
    expect(inQuery).toMatchObject({ status: 400, json: { message: 'missing client id' } });
    const { json } = await setup.call('GET', '/simulator/device-codes');
    expect(json.device_codes).toMatchObject([{ scopes: [] }]);
  });

  it('reject an unknown scope', async () => {
    const form = new URLSearchParams({ client_id: 'a', scopes: 'bits:read bits:write' });
    expect(await setup.call('POST', '/oauth2/device', form)).toMatchObject({
      status: 400,
      json: { message: "invalid scope requested: 'bits:write'" },
    });
  });

  it('are pending until a user decides, and give the token once', async () => {
    const { device_code, user_code } = await device.start('bits:read');
    expect(await pollOf(device_code)).toEqual(pending);
    expect((await decide(user_code, 'allow', 'mira')).status).toBe(204);
    const { status, json } = await device.poll(device_code);
    expect(status).toBe(200);
    expect(json).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      expires_in: 14_400,
      scope: ['bits:read'],
      token_type: 'bearer',
    });
    expect(await pollOf(device_code)).toEqual(invalid);
  });

  it('become invalid when a user denies', async () => {
    const { device_code, user_code } = await device.start('bits:read');
    expect((await decide(user_code, 'deny')).status).toBe(204);
    expect(await pollOf(device_code)).toEqual(invalid);
    expect((await decide(user_code, 'allow', 'mira')).status).toBe(404);
  });

  it('expire', async () => {
    const pass = stopClock();
    const { device_code, user_code } = await device.start('');
    pass(1_800_000 - 1);
    expect(await pollOf(device_code)).toEqual(pending);
    pass(1);
    expect(await pollOf(device_code)).toEqual(invalid);
    expect((await decide(user_code, 'allow', 'mira')).status).toBe(404);
  });

  it('belong to one application', async () => {
    const { device_code, user_code } = await device.start('');
    await decide(user_code, 'allow', 'mira');
    const other = await new DeviceLogin(setup, 'another').poll(device_code);
    expect(other.json).toEqual(invalid);
    expect(await pollOf(device_code)).toBe('token');
  });

  it('are invalid while pending when that fault is set', async () => {
    await setup.call('PATCH', '/simulator', { faults: { oauth: { device_polls_invalid: 1 } } });
    const { device_code } = await device.start('');
    expect([await pollOf(device_code), await pollOf(device_code)]).toEqual([invalid, pending]);
  });

  describe('the page', () => {
    const open = async (uri: string): Promise<string> => (await fetch(uri)).text();
    const send = (fields: Record<string, string>, origin = setup.simulator.url) =>
      fetch(`${setup.simulator.url}/activate`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams(fields),
      });

    it('shows the application, the scopes in words, and the code', async () => {
      await setup.call('POST', '/simulator/applications', {
        client_id: 'a-public-application',
        name: 'Tom & <Jerry>',
      });
      const { verification_uri, user_code } = await device.start('bits:read');
      const page = await open(verification_uri);
      for (const part of [user_code, 'Tom &#38; &#60;Jerry&#62;', 'See Bits activity', 'bits:read'])
        expect(page).toContain(part);
      expect(page).not.toContain('<Jerry>');
    });

    it('asks for the code when it is missing or wrong', async () => {
      expect(await open(`${setup.simulator.url}/activate`)).toContain('Enter the code');
      expect(await open(`${setup.simulator.url}/activate?device-code=WRONG`)).toContain('typing error');
    });

    it('connects the device as the chosen user', async () => {
      const { device_code, user_code } = await device.start('bits:read');
      const sent = await send({ user_code, login: 'mira', decision: 'allow' });
      expect([sent.status, await sent.text()]).toEqual([201, expect.stringContaining('now has access')]);
      expect(await pollOf(device_code)).toBe('token');
    });

    it('denies', async () => {
      const { device_code, user_code } = await device.start('bits:read');
      expect(await (await send({ user_code, decision: 'deny' })).text()).toContain('has no access');
      expect(await pollOf(device_code)).toEqual(invalid);
    });
  });
});

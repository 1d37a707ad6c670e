import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { stopClock } from '../../test/clock.js';
import { SimulatorSetup } from '../../test/simulator-setup.js';

describe('faults of the platform API', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    return setup.close();
  });

  const fail = (api: Record<string, unknown>) => setup.call('PATCH', '/simulator', { faults: { api } });

  const lookUp = (): Promise<Response> =>
    fetch(`${setup.simulator.url}/helix/users?login=sim_pixelforge`, { headers: setup.authorization });

  it('closes connections without a response in mode down', async () => {
    await fail({ mode: 'down' });
    await expect(lookUp()).rejects.toThrow('fetch failed');
    await expect(fetch(`${setup.simulator.url}/oauth2/validate`)).rejects.toThrow('fetch failed');
    expect((await setup.call('GET', '/simulator')).json.faults).toMatchObject({ api: { mode: 'down' } });
  });

  it('responds with 200 and invalid JSON in mode garbage', async () => {
    await fail({ mode: 'garbage' });
    const response = await lookUp();
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow(/JSON/);
  });

  it('responds with 500 in mode error', async () => {
    await fail({ mode: 'error' });
    expect((await lookUp()).status).toBe(500);
  });

  it('responds with 429 and the time of the reset', async () => {
    stopClock();
    await fail({ mode: 'rate_limited', for_ms: 60_000 });
    const { status, headers } = await lookUp();
    expect([status, headers.get('ratelimit-remaining')]).toEqual([429, '0']);
    expect(Number(headers.get('ratelimit-reset'))).toBe(Math.ceil((Date.now() + 60_000) / 1_000));
  });

  it('responds late in mode slow, and shuts down without waiting', async () => {
    await fail({ mode: 'slow', delay_ms: 300 });
    const began = performance.now();
    expect((await lookUp()).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
    await fail({ mode: 'slow' });
    const waiting = lookUp();
    await eventually(async () => {
      const { json } = await setup.call('GET', '/simulator');
      expect(json.requests).toMatchObject({ 'GET /helix/users': 2 });
    });
    await setup.close();
    expect((await waiting).status).toBe(200);
    setup = await SimulatorSetup.start();
  });

  it('ends after its duration', async () => {
    const pass = stopClock();
    await fail({ mode: 'error', for_ms: 200 });
    pass(199);
    expect((await lookUp()).status).toBe(500);
    pass(1);
    expect((await lookUp()).status).toBe(200);
    expect((await setup.call('GET', '/simulator')).json.faults).toEqual({
      api: { mode: 'ok' },
      notifications: {},
      oauth: {},
    });
  });

  it.each([[{ mode: 'gone' }], [{ mode: 'slow', delay_ms: -1 }], [{}]])(
    'responds with 400 to %j',
    async (api) => {
      expect((await fail(api)).status).toBe(400);
    },
  );

  it('counts calls of the platform by their route', async () => {
    await lookUp();
    await lookUp();
    await fetch(`${setup.simulator.url}/helix/made/up`);
    expect((await setup.call('GET', '/simulator')).json.requests).toEqual({
      'POST /oauth2/token': 1,
      'GET /helix/users': 2,
      other: 1,
    });
  });
});

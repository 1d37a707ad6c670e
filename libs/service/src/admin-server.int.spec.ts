import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import { startAdminServer, type AdminServer } from './admin-server.js';
import { Health } from './health.js';

let health: Health;
let metrics: Registry;
let server: AdminServer;
beforeEach(async () => {
  health = new Health();
  metrics = new Registry();
  server = await startAdminServer({ host: '127.0.0.1', port: 0, health, metrics });
});
afterEach(() => server.close());

function call(path: string, method = 'GET', headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers });
}

async function restart(host: string, token?: string): Promise<void> {
  await server.close();
  server = await startAdminServer({ host, port: 0, token, health, metrics });
}

describe(startAdminServer.name, () => {
  it('is live regardless of the state of its parts', async () => {
    health.register('database', () => Promise.reject(new Error('away')));

    expect((await call('/health/live')).status).toBe(200);
  });

  it('is ready when every part works, and otherwise responds with 503 and the report', async () => {
    expect((await call('/health/ready')).status).toBe(200);

    health.register('database', () => Promise.reject(new Error('away')));
    const response = await call('/health/ready?verbose');

    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: 'error',
      checks: { database: { status: 'error', detail: 'away' } },
    });
  });

  it('serves the metrics', async () => {
    new Counter({ name: 'things_total', help: 'things', registers: [metrics] }).inc(3);

    expect(await (await call('/metrics')).text()).toContain('things_total 3');
  });

  it('shows metrics and details only with the token, if there is one', async () => {
    await restart('127.0.0.1', 'a-token-for-prometheus');
    health.register('database', () => Promise.reject(new Error('away')));

    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Token a-token-for-prometheus'])
      expect((await call('/metrics', 'GET', { authorization })).status).toBe(401);
    expect(await (await call('/health/ready')).json()).toEqual({ status: 'error' });
    const headers = { authorization: 'bearer a-token-for-prometheus' };
    expect((await call('/metrics', 'GET', headers)).status).toBe(200);
    expect(await (await call('/health/ready', 'GET', headers)).json()).toMatchObject({
      checks: { database: { detail: 'away' } },
    });
  });

  it('shows neither on all interfaces without a token', async () => {
    await restart('0.0.0.0');
    health.register('database', () => Promise.reject(new Error('away')));

    expect((await call('/metrics')).status).toBe(403);
    expect(await (await call('/health/ready')).json()).toEqual({ status: 'error' });
    expect((await call('/health/live')).status).toBe(200);
  });

  /** Sends a request with this `Host` header. `fetch` does not allow to set it. */
  async function statusFor(host: string | undefined, path = '/metrics'): Promise<number | undefined> {
    const options = { port: server.port, host: '127.0.0.1', path, ...(host && { headers: { host } }) };
    const [response] = (await once(get(options), 'response')) as [IncomingMessage]; // Safe cast: the event has this argument.
    response.resume();
    return response.statusCode;
  }

  it('serves only loopback names on loopback', async () => {
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.8.9.10:9000', '[::1]', '[::1]:9000'])
      expect(await statusFor(host)).toBe(200);

    for (const host of [
      'rebound.example',
      '127.0.0.1.rebound.example',
      'localhost.example:9000',
      '192.0.2.1',
      '[::2]',
      '::1:x',
      ' ',
    ])
      for (const path of ['/metrics', '/health/ready', '/health/live'])
        expect(await statusFor(host, path)).toBe(421);
  });

  it('serves every name on other interfaces', async () => {
    await restart('0.0.0.0', 'a-token-for-prometheus');

    expect(await statusFor('gateway.example:9000', '/health/ready')).toBe(200);
  });

  it('responds with 500 when a metric cannot be collected, and continues', async () => {
    new Gauge({ name: 'broken', help: 'x', registers: [metrics], collect: () => Promise.reject(new Error('away')) }); // prettier-ignore

    expect((await call('/metrics')).status).toBe(500);
    expect((await call('/health/live')).status).toBe(200);
  });

  it('rejects other paths and methods', async () => {
    expect((await call('/')).status).toBe(404);
    expect((await call('/metrics', 'POST')).status).toBe(405);
  });
});

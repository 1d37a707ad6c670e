import { request } from 'node:http';
import { controlSecret, secret, SimulatorSetup } from '../../test/simulator-setup.js';
import { ControlAccess } from './control-access.js';

const bearer = { authorization: `Bearer ${controlSecret}` };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

const controlRoutes = [
  ['GET', '/simulator'],
  ['PATCH', '/simulator'],
  ['GET', '/simulator/users'],
  ['POST', '/simulator/users'],
  ['PATCH', '/simulator/users/1'],
  ['DELETE', '/simulator/users/1'],
  ['GET', '/simulator/streams?user_id=1'],
  ['POST', '/simulator/streams'],
  ['PATCH', '/simulator/streams/1'],
  ['DELETE', '/simulator/streams/1'],
  ['POST', '/simulator/notifications'],
  ['POST', '/simulator/revocations'],
  ['POST', '/simulator/tokens/revoke'],
  ['GET', '/simulator/applications'],
  ['POST', '/simulator/applications'],
  ['GET', '/simulator/device-codes'],
  ['POST', '/simulator/device-codes'],
  ['GET', '/simulator/grants'],
  ['POST', '/simulator/grants'],
  ['DELETE', '/simulator/grants'],
  ['GET', '/simulator/limits'],
  ['POST', '/simulator/limits'],
  ['GET', '/simulator/scenarios'],
  ['POST', '/simulator/scenarios'],
  ['GET', '/simulator/sockets'],
  ['POST', '/simulator/sockets'],
];

interface Sent {
  status: number | undefined;
  headers: Record<string, unknown>;
  json: Record<string, unknown>;
}

describe(ControlAccess.name, () => {
  let setup: SimulatorSetup;
  let port: string;

  beforeAll(async () => {
    setup = await SimulatorSetup.start();
    ({ port } = new URL(setup.simulator.url));
  });

  afterAll(() => setup.close());

  /** Sends exactly these headers, which `fetch` cannot do. `path` can also be a whole URL. */
  const send = (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const options = { method, headers, agent: false };
      const url = path.startsWith('/') ? setup.simulator.url + path : path;
      const sending = request(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const content = (text === '' ? {} : JSON.parse(text)) as Sent['json'];
          resolve({ status: response.statusCode, headers: response.headers, json: content });
        });
      });
      sending.on('error', reject).end(body);
    });

  /** A valid body for `POST /simulator/notifications`. */
  const message = (): Record<string, string> => ({
    type: 'channel.follow',
    callback: setup.receiver.url,
    secret,
  });

  it.each(controlRoutes)('requires the control secret for %s %s', async (method, path) => {
    const { status, headers, json: error } = await send(method, path, {});
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe('Bearer');
    expect(error).toMatchObject({ status: 401, message: expect.stringContaining('control secret') });
    const faults = [
      `Bearer ${controlSecret}x`,
      `Bearer ${controlSecret.slice(0, -1)}`,
      'Bearer',
      controlSecret,
    ];
    for (const authorization of [...faults, `Token ${controlSecret}`])
      expect((await send(method, path, { authorization })).status).toBe(401);
  });

  it.each(['/%73imulator', '/simulator/', '//simulator', '/', '/nothing', '/activate/', '/activate/x'])(
    'requires the control secret for %s, which is neither the platform’s API nor a consent page',
    async (path) => {
      expect((await send('GET', path, {})).status).toBe(401);
    },
  );

  it('accepts no form and no text, as a web page can send them to any address', async () => {
    const text = JSON.stringify(message());
    const fields = new URLSearchParams(message()).toString();
    for (const [type, body] of [
      [form, fields],
      [{ 'content-type': 'text/plain' }, text],
      [{ 'content-type': 'application/jsonp' }, text],
      [{}, text],
    ] as const) {
      expect((await send('POST', '/simulator/notifications', { ...type }, body)).status).toBe(401);
      expect(await send('POST', '/simulator/notifications', { ...bearer, ...type }, body)).toMatchObject({
        status: 415,
        json: { error: 'Unsupported Media Type', message: expect.stringContaining('application/json') },
      });
    }
    expect(setup.receiver.received).toEqual([]);
  });

  it('rejects another host or port, even with the secret', async () => {
    const names = ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '192.0.2.1'];
    for (const host of [...names.map((name) => `${name}:${port}`), 'localhost', 'localhost:1'])
      expect(await send('GET', '/simulator', { ...bearer, host })).toMatchObject({
        status: 421,
        json: { message: expect.stringContaining('localhost') },
      });
  });

  it.each(['127.0.0.1', 'localhost', '[::1]'])('accepts the host %s with the port', async (name) => {
    expect((await send('GET', '/simulator', { ...bearer, host: `${name}:${port}` })).status).toBe(200);
  });

  it('accepts the address that it is configured to listen on', async () => {
    const other = await SimulatorSetup.start({ HOST: '0.0.0.0' });
    try {
      const host = `0.0.0.0:${new URL(other.simulator.url).port}`;
      expect((await send('GET', `${other.simulator.url}/simulator`, { ...bearer, host })).status).toBe(200);
      expect((await send('GET', '/simulator', { ...bearer, host: `0.0.0.0:${port}` })).status).toBe(421);
    } finally {
      await other.close();
    }
  });

  it('rejects requests of other origins, to the control API and to the platform’s API', async () => {
    const token = new URLSearchParams({
      client_id: 'a',
      client_secret: 'b',
      grant_type: 'client_credentials',
    });
    const own = `http://127.0.0.1:${port}`;
    for (const origin of [
      'https://evil.example',
      'null',
      'http://127.0.0.1:1',
      `https://127.0.0.1:${port}`,
    ]) {
      expect((await send('GET', '/simulator', { ...bearer, origin })).status).toBe(403);
      const grant = await send('POST', '/oauth2/token', { ...form, origin }, token.toString());
      expect([grant.status, grant.json.access_token]).toEqual([403, undefined]);
      const list = await send('GET', '/helix/eventsub/subscriptions', { ...setup.authorization, origin });
      expect(list.status).toBe(403);
    }
    expect((await send('GET', '/simulator', { ...bearer, origin: own })).status).toBe(200);
    // DNS rebinding: a site points its own name at this machine. Requests from its page then carry this name as origin and host.
    const rebound = { host: `evil.example:${port}`, origin: `http://evil.example:${port}` };
    expect((await send('POST', '/oauth2/token', { ...form, ...rebound }, token.toString())).status).toBe(403);
  });

  it.each(['/activate', '/oauth2/authorize'])(
    'shows the page %s without the secret, but accepts its form only from the page itself',
    async (page) => {
      const own = `http://127.0.0.1:${port}`;
      const decide = (headers: Record<string, string>) => send('POST', page, { ...form, ...headers }, 'a=b');
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
        expect((await decide({ origin })).status).toBe(403);
      expect((await decide({})).status).toBe(403);
      expect((await decide({ origin: own })).status).toBe(400); // accepted, but the fields are missing
      const rebound = { host: `evil.example:${port}`, origin: `http://evil.example:${port}` };
      expect((await decide(rebound)).status).toBe(421);
      const shown = await fetch(`${own}${page}`);
      expect([shown.status, shown.headers.get('www-authenticate')]).toEqual([
        page === '/activate' ? 200 : 400, // the authorize page requires parameters
        null,
      ]);
    },
  );

  it('leaves the platform’s API open to services that reach it by another name', async () => {
    const headers = { ...setup.authorization, host: 'platform-simulator:8100' };
    expect((await send('GET', '/helix/eventsub/subscriptions', headers)).status).toBe(200);
  });

  it('accepts JSON with the secret', async () => {
    const body = JSON.stringify(message());
    const reply = await send('POST', '/simulator/notifications', { ...bearer, ...json }, body);
    expect(reply).toMatchObject({ status: 200, json: { responses: [{ status: 204 }] } });
  });
});

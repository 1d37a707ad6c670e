import { StreamServer } from '../test/stream-server.js';
import { createClient } from './client.js';

describe(createClient.name, () => {
  let server: StreamServer;

  beforeEach(async () => {
    server = await StreamServer.start(({ request, response }) => {
      const { url, headers } = request;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ message: `${url} ${headers.authorization}` }));
    });
  });

  afterEach(() => server.stop());

  it.each(['', '/', '/behind/a/proxy/'])('asks the service at an address that ends with %j', async (end) => {
    const { api } = createClient({ url: server.url + end, token: 'a-token' });
    const { data } = await api.GET('/api/v1/heartbeat');
    expect(data?.message).toBe(`${end.replace(/\/$/, '')}/api/v1/heartbeat Token a-token`);
  });

  it('sends bodies without what has a default', async () => {
    const { api } = createClient({ url: server.url, token: 'a-token' });
    // That this compiles is the test.
    await api.POST('/api/v1/replays', { body: { since: '2026-11-21T06:30:00Z' } });
    await api.POST('/api/v1/platform/scopes', { body: { scope: 'channel:read:raids' } });
    expect(server.connections.map(({ request }) => request.url)).toEqual([
      '/api/v1/replays',
      '/api/v1/platform/scopes',
    ]);
  });

  it('uses the fetch that it is given', async () => {
    const asked: unknown[] = [];
    const fetchNothing: typeof fetch = (input) => {
      asked.push(input instanceof Request ? new URL(input.url).pathname : input);
      return Promise.resolve(Response.json({ detail: 'never' }, { status: 404 }));
    };
    const client = createClient({ url: server.url, token: 'a-token', fetch: fetchNothing });
    await client.api.GET('/api/v1/heartbeat');
    await expect(client.live().next()).rejects.toThrow('404');
    expect(asked).toEqual(['/api/v1/heartbeat', `${server.url}/api/v1/platform-events/stream`]);
    expect(server.connections).toEqual([]);
  });

  it('refuses at once what it could never send, without showing it', () => {
    const { url } = server;
    expect(() => createClient({ url: 'the service', token: 'a-token' })).toThrow('Invalid URL');
    expect(() => createClient({ url, token: '' })).toThrow('The token is missing');
    // @ts-expect-error: JavaScript may
    expect(() => createClient({ url, token: undefined })).toThrow('The token is missing');
    expect(() => createClient({ url, token: 'two\nlines' })).toThrow(/^The token is not valid: [^\n]*$/);
    expect(() => createClient({ url, token: 'a-token' }).live({ after: '…' })).toThrow(
      'The position is not valid',
    );
  });
});

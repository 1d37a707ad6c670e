import { StreamServer } from '../test/stream-server.js';
import type { components } from './api.js';
import { createClient } from './client.js';
import type { EventRecord, LiveEvent } from './live-event.js';

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

  it.each(['', '/', '/behind/a/proxy/'])('calls the service at an address that ends with %j', async (end) => {
    const { api } = createClient({ url: server.url + end, token: 'a-token' });
    const { data } = await api.GET('/api/v1/heartbeat');
    expect(data?.message).toBe(`${end.replace(/\/$/, '')}/api/v1/heartbeat Token a-token`);
  });

  it.each(['.', '..'])(
    'sends no request with the path parameter %j, which would reach another route',
    async (id) => {
      const { api } = createClient({ url: server.url, token: 'a-token' });
      await expect(api.DELETE('/api/v1/streamers/{id}', { params: { path: { id } } })).rejects.toThrow(
        'The path parameter id cannot be',
      );
      await api.GET('/api/v1/streamers/{id}', { params: { path: { id: `${id}/..a` } } });
      expect(server.connections.map(({ request }) => request.url)).toEqual([`/api/v1/streamers/${id}%2F..a`]);
    },
  );

  it('sends bodies without the fields that have defaults', async () => {
    const { api } = createClient({ url: server.url, token: 'a-token' });
    // Tests that this code compiles.
    await api.POST('/api/v1/replays', { body: { since: '2026-11-21T06:30:00Z' } });
    await api.POST('/api/v1/platform/scopes', { body: { scope: 'channel:read:raids' } });
    expect(server.connections.map(({ request }) => request.url)).toEqual([
      '/api/v1/replays',
      '/api/v1/platform/scopes',
    ]);
  });

  it('accepts records of the list, live events, and replays as event records', () => {
    const listed: components['schemas']['EventRecord'] = {
      id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
      event_id: null,
      event_type: 'channel-raid',
      event_source: 'PlatformSub',
      event_data: {},
      created: '2026-11-21T06:30:00+0000',
      origin: 'platform',
    };
    const live = JSON.parse(JSON.stringify({ ...listed, origin: 'replay' })) as LiveEvent;
    const replayed: components['schemas']['ReplayedEventRecord'] = { ...listed, origin: 'replay' };
    // Tests that this code compiles.
    const records: EventRecord[] = [listed, live, replayed];
    expect(records.map(({ origin }) => origin)).toEqual(['platform', 'replay', 'replay']);
  });

  it('uses the given fetch', async () => {
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

  it('rejects values that no header can carry, without showing them', () => {
    const { url } = server;
    expect(() => createClient({ url: 'the service', token: 'a-token' })).toThrow('Invalid URL');
    expect(() => createClient({ url, token: '' })).toThrow('The token is missing');
    // @ts-expect-error: JavaScript can pass undefined
    expect(() => createClient({ url, token: undefined })).toThrow('The token is missing');
    expect(() => createClient({ url, token: 'two\nlines' })).toThrow(/^The token is not valid: [^\n]*$/);
    expect(() => createClient({ url, token: 'a-token' }).live({ after: '…' })).toThrow(
      'The position is not valid',
    );
  });
});

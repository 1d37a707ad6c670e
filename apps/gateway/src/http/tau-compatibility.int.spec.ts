import { ServiceError } from '@stream-events/contracts';
import type { RequestClient } from '@stream-events/messaging';
import fastify from 'fastify';
import { sendProblem } from './problem.js';
import { translateForTau } from './tau-compatibility.js';

/** Requests the latest stream of a streamer who has none. `lookUp` simulates the look-up of the streamer. */
async function requestLatestStream(lookUp: () => Promise<unknown>) {
  const server = fastify();
  translateForTau(server, { request: lookUp } as unknown as RequestClient); // Safe cast: only `request` is called.
  server.get('/api/v1/streamers/:id/streams/latest', (_, reply) => {
    sendProblem(reply, new ServiceError('not_found', 'The streamer has no stream.'));
  });
  try {
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(`${url}/api/v1/streamers/7/streams/latest`);
    return { status: response.status, headers: response.headers, body: await response.text() };
  } finally {
    await server.close();
  }
}

describe('the latest stream of a streamer without streams, for a client of TAU', () => {
  it('is an empty object, or 404 for an unknown streamer', async () => {
    const known = await requestLatestStream(() => Promise.resolve({}));
    expect([known.status, known.body]).toEqual([200, '{}\n']);

    const unknown = await requestLatestStream(() => Promise.reject(new ServiceError('not_found', 'unknown')));
    expect([unknown.status, JSON.parse(unknown.body)]).toMatchObject([404, { status: 404 }]);
  });

  it('is 503 while the service cannot tell whether the streamer exists', async () => {
    const outage = new ServiceError('unavailable', 'The database is away.', { retryAfterSeconds: 2 });
    const { status, headers, body } = await requestLatestStream(() => Promise.reject(outage));

    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('2');
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(body)).toMatchObject({ status: 503, detail: 'The database is away.' });
  });
});

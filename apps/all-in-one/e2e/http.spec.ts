import { request as httpRequest } from 'node:http';
import { eventBody, eventsPath, newEvent, problemType, type EventPage } from './api.js';
import type { TestService } from '@stream-events/testing';
import { startLimitMs, startStack, type Stack } from './stack.js';

const page = 'https://overlay.example';

describe('HTTP edge', () => {
  let stack: Stack;
  let plain: TestService;
  let published: TestService;
  let trusting: TestService;
  let choosy: TestService;

  beforeAll(async () => {
    stack = await startStack({ killable: ['events'] });
    plain = stack.gateway;
    [published, trusting, choosy] = await Promise.all([
      stack.startGateway({
        PUBLIC_URL: 'https://events.example.org/base/',
        CORS_ORIGINS: `${page}, https://b.example`,
      }),
      stack.startGateway({ TRUST_PROXY: 'true' }),
      stack.startGateway({ TRUST_PROXY: '10.0.0.0/8, 192.168.0.1' }),
    ]);
    await stack.storeEvents([newEvent(), newEvent()]);
  }, startLimitMs);

  afterAll(() => stack.stop());

  describe('links', () => {
    /** Returns the scheme and host of the `next` link when a client sends exactly these headers. */
    const baseFor = async (gateway: TestService, headers: Record<string, string> = {}): Promise<string> => {
      const text = await new Promise<string>((resolve, reject) => {
        const request = httpRequest(
          `${gateway.url}${eventsPath}?page_size=1`,
          { headers: { authorization: `Token ${stack.ownerToken}`, ...headers } },
          (response) => {
            let body = '';
            response.on('data', (chunk: Buffer) => void (body += chunk.toString()));
            response.on('end', () => resolve(body));
          },
        );
        request.on('error', reject).end();
      });
      const { next } = JSON.parse(text) as EventPage; // Safe cast: the response is 200, as the link shows.
      return next?.slice(0, next.indexOf('/api/v1')) ?? 'no link';
    };

    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'events.example.org' };

    it('use the address that the client used', async () => {
      expect(await baseFor(plain)).toBe(plain.url);
      expect(await baseFor(plain, { host: 'localhost:8123' })).toBe('http://localhost:8123');
      expect(await baseFor(plain, { host: '[::1]:8123' })).toBe('http://[::1]:8123');
    });

    it('ignore forwarded headers unless a proxy is trusted', async () => {
      expect(await baseFor(plain, forwarded)).toBe(plain.url);
      expect(await baseFor(choosy, forwarded)).toBe(choosy.url);
      expect(await baseFor(trusting, forwarded)).toBe('https://events.example.org');
    });
  });

  describe('CORS', () => {
    const ask = (gateway: TestService, origin: string, token: string | null = stack.ownerToken) =>
      stack.request('GET', eventsPath, { gateway: gateway.url, headers: { origin }, token });

    it('lets any origin read responses and errors, but never with credentials', async () => {
      for (const answer of [await ask(plain, page), await ask(plain, page, null)]) {
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
        expect(answer.headers.get('access-control-expose-headers')).toMatch(/Location.*Retry-After/);
      }
    });

    it.each([eventsPath, '/nowhere'])('accepts the preflight request of %s without a token', async (path) => {
      const answer = await stack.request('OPTIONS', path, {
        token: null,
        headers: {
          origin: page,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,idempotency-key',
        },
      });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-methods')).toMatch(/POST/);
      expect(answer.headers.get('access-control-allow-headers')).toMatch(
        /Authorization.*Content-Type.*Idempotency-Key/,
      );
    });

    it('is narrowed by CORS_ORIGINS', async () => {
      const allowed = await ask(published, page);
      expect(allowed.headers.get('access-control-allow-origin')).toBe(page);
      expect(allowed.headers.get('vary')).toMatch(/origin/i);
      const other = await ask(published, 'https://other.example');
      expect(other.status).toBe(200);
      expect(other.headers.get('access-control-allow-origin')).toBeNull();
    });
  });

  const always = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  };

  describe('security headers', () => {
    it.each([
      ['GET', eventsPath, 200],
      ['GET', '/api/v1/heartbeat', 200],
      ['GET', '/api/openapi.json', 200],
      ['GET', '/nowhere', 404],
      ['GET', '/%', 400],
      ['POST', `${eventsPath}/webhook`, 403],
    ])('keep browsers from treating a response as a page: %s %s', async (method, path, status) => {
      const answer = await stack.request(method, path, method === 'POST' ? { body: {} } : {});

      expect(answer.status).toBe(status);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        ...always,
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
    });

    it.each([
      '/api/docs',
      '/api/docs/',
      '/api/docs/index.html',
      '/console',
      '/console/',
      '/console/events?event=1',
    ])('allow only the scripts of this gateway on %s, and no frame around it', async (path) => {
      const { headers, text } = await stack.request('GET', path, { token: null });

      expect(Object.fromEntries(headers)).toMatchObject(always);
      const policy = headers.get('content-security-policy')?.split('; ');
      expect(policy).toEqual(
        expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
      );
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=/);
    });

    it('allow only frames of this gateway around the overlay', async () => {
      const { headers, text } = await stack.request('GET', '/overlay/', { token: null });

      expect(Object.fromEntries(headers)).toMatchObject({ ...always, 'x-frame-options': 'SAMEORIGIN' });
      const policy = headers.get('content-security-policy')?.split('; ');
      expect(policy).toEqual(
        expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'self'"]),
      );
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|https?:/);
    });
  });

  describe('the console', () => {
    const get = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
      stack.request(method, path, { gateway: plain.url, token: null, headers });

    it('serves its page for every view, and lets browsers keep only the assets', async () => {
      const page = await get('/console/streamers/1/');
      expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
        200,
        'text/html; charset=utf-8',
        'public, max-age=0',
      ]);
      expect((await get('/console')).text).toBe(page.text);
      const kept = await get('/console', 'GET', {
        'if-none-match': page.headers.get('etag')!,
        // By default, fetch sends `no-cache`, which prevents a 304 response.
        'cache-control': 'max-age=0',
      });
      expect([kept.status, kept.headers.get('content-security-policy')]).toEqual([304, null]);
      const [, asset] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page.text)!;
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await get(asset!, method, { 'accept-encoding': 'br' });
        expect(status).toBe(200);
        expect(Object.fromEntries(headers)).toMatchObject({
          ...always,
          'cache-control': 'public, max-age=31536000, immutable',
          'content-encoding': 'br',
          'content-type': expect.stringContaining('javascript'),
        });
      }
    });

    it('refuses missing assets and other methods as the API does', async () => {
      expect(await get('/console/assets/none.js')).toMatchObject({
        status: 404,
        json: { detail: expect.stringContaining('reload the page') },
      });
      for (const path of ['/console', '/console/events']) {
        const { status, headers } = await get(path, 'DELETE');
        expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      }
    });
  });

  describe('in a terminal or a browser', () => {
    it('ends JSON with a newline: records, lists of any kind, problems, and descriptions', async () => {
      const { json } = await stack.request<{ id: string }>('POST', eventsPath, { body: eventBody() });
      const paths = [
        `${eventsPath}/${json.id}`,
        eventsPath,
        '/api/v1/users',
        '/api/v1/platform/scopes',
        '/api/v1/nowhere',
        '/%',
        '/health/ready',
        '/api/openapi.json',
        '/api/asyncapi.json',
      ];
      for (const path of paths) {
        const headers = { authorization: `Token ${stack.ownerToken}` };
        const response = await fetch(plain.url + path, { headers });
        const text = await response.text();
        const head = await fetch(plain.url + path, { method: 'HEAD', headers });

        expect([path, /[}\]]\n$/.test(text)]).toEqual([path, true]);
        expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
        expect([path, head.headers.get('content-length')]).toEqual([path, String(Buffer.byteLength(text))]);
      }
    });

    it.each(['GET', 'HEAD'])('links from / to the console: %s', async (method) => {
      const answer = await stack.request(method, '/', { token: null });
      const { status, headers } = await stack.request(method, answer.headers.get('location') ?? '', {
        token: null,
      });

      expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/']);
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    });
  });

  describe('health', () => {
    it('needs no token, on both ports', async () => {
      for (const base of [plain.url, plain.adminUrl]) {
        expect(await stack.request('GET', `${base}/health/live`, { token: null })).toMatchObject({
          status: 200,
        });
        expect(await stack.request('GET', `${base}/health/ready`, { token: null })).toMatchObject({
          status: 200,
          json: { status: 'ok' },
        });
      }
    });

    it('shows metrics to owners only', async () => {
      expect((await stack.request('GET', '/metrics', { token: null })).status).toBe(401);
      expect((await stack.request('GET', '/metrics')).text).toContain('gateway_webhook_messages_total');
    });
  });

  // Keep these tests last: they kill the events services.
  describe('without an events service', () => {
    it('responds with 503 and Retry-After; the heartbeat still works', async () => {
      await Promise.all(stack.events.map((events) => events.kill('SIGKILL')));
      const requests: [method: string, path: string, body?: unknown][] = [
        ['GET', eventsPath],
        ['POST', eventsPath, eventBody()],
        ['POST', `${eventsPath}/raid/test`, {}],
        ['GET', `${eventsPath}/01999999-9999-7999-8999-999999999999`],
      ];
      for (const [method, path, body] of requests) {
        const answer = await stack.request(method, path, body === undefined ? {} : { body });
        expect(answer).toMatchObject({ status: 503, json: { status: 503, title: 'Service Unavailable' } });
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expect(answer.headers.get('content-type')).toMatch(problemType);
      }
      expect(await stack.request('GET', '/api/v1/heartbeat', { token: null })).toMatchObject({ status: 200 });
    });
  });
});

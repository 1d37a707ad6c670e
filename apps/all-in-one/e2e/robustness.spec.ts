import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { METHODS } from 'node:http';
import { anyCharacter, anyJson, eventually, nearJson } from '@stream-events/testing';
import fc from 'fast-check';
import { eventBody, eventsPath } from './api.js';
import * as raw from './raw-http.js';
import type { Headers, RawAnswer, RawRequest } from './raw-http.js';
import { webhookSecrets } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const { expectSound, problemOf } = raw;

// fast-check's limit for shrinking. Shrinking must end before Jest's time limit, or fast-check does not print the seed.
const shrinkLimitMs = 20_000;

const json = ['Content-Type', 'application/json'] as const;

/** Picks one of the words in a text. */
const oneOf = (words: string) => fc.constantFrom(...words.trim().split(/\s+/));
const charactersFrom = (min: number, max: number) =>
  fc.string({ unit: fc.integer({ min, max }).map((code) => String.fromCharCode(code)) });
/** Characters allowed in a header: no control characters, no DEL. */
const headerText = charactersFrom(32, 255).map((text) => text.replaceAll('\x7f', ''));
/** Characters allowed in a URL without encoding. */
const urlText = charactersFrom(33, 126);
const encodedText = fc
  .string({ unit: anyCharacter, maxLength: 300 })
  .map((text) => encodeURIComponent(text.toWellFormed()));

/** Checks a property. `runs` keeps the whole file below one minute. */
function holds<T>(
  arbitrary: fc.Arbitrary<T>,
  runs: number,
  check: (value: T) => Promise<void>,
): Promise<void> {
  return fc.assert(fc.asyncProperty(arbitrary, check), {
    numRuns: runs,
    plugins: [fc.interruptAfterTimeLimit(shrinkLimitMs)],
  });
}

describe('robustness', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);

  afterAll(() => stack?.stop());

  afterEach(async () => {
    expect(await send({ target: '/api/v1/heartbeat' })).toMatchObject({ status: 200 });
    expect(await send({ target: `${eventsPath}?page_size=1` })).toMatchObject({ status: 200 });
    for (const process of [...stack.gateways, ...stack.events]) {
      expect(process.isRunning).toBe(true);
      // Client requests must never cause error logs, or warnings of Node.
      const lines = process.output.split('\n');
      expect(lines.filter((line) => /"level":("error"|"fatal"|50|60)|Warning: /.test(line))).toEqual([]);
    }
  });

  /** Adds the owner's token unless the request has an `Authorization` header. */
  function send(request: RawRequest): Promise<RawAnswer> {
    const { headers = [] } = request;
    const isAnonymous = headers.some(([name]) => name === 'Authorization');
    const token: Headers = isAnonymous ? [] : [['Authorization', `Token ${stack.ownerToken}`]];
    return raw.exchange(stack.nextUrl, raw.printRequest({ ...request, headers: [...token, ...headers] }));
  }

  describe('bodies', () => {
    it.each([
      ['POST', eventsPath, eventBody(), [201, 400]],
      ['POST', `${eventsPath}/stream-offline/test`, { a: 1 }, [200, 400]],
      ['POST', '/api-token-auth/', { username: 'nobody', password: 'guess' }, [400, 429]],
      ['POST', '/users/', { username: 'robust', password: 'a long password', email: 'a@b' }, [201, 400, 409]],
      ['PATCH', '/api/v1/users/me', { first_name: 'Ada', last_name: 'L', email: '' }, [200, 400]],
      [
        'POST',
        '/api/v1/users/me/password',
        { current_password: 'no', new_password: '1234567890' },
        [400, 429],
      ],
      ['PATCH', '/api/v1/users/5e1fbbd5-2a9c-4c2e-a9c9-5e5d1c1a9d55', { disabled: true }, [400, 404]],
    ])('%s %s responds to any body', async (method, target, valid, statuses) => {
      await holds(nearJson(valid), 60, async (body) => {
        const answer = await send({ method, target, headers: [json], body });

        expectSound(answer);
        expect(statuses).toContain(answer.status);
      });
    });

    it('keeps any event data as it was sent, and rejects only data that is nested too deeply', async () => {
      await holds(fc.tuple(anyJson, anyJson), 100, async ([first, second]) => {
        const data = `{ "a" :${first},"a": ${second} }`;
        const body = `{"event_type":"kept","event_source":"test","event_data":${data}}`;
        const answer = await send({ method: 'POST', target: eventsPath, headers: [json], body });

        expectSound(answer);
        if (answer.status === 201) expect(answer.body).toContain(`"event_data":${data},"created"`);
        else expect(problemOf(answer).detail).toMatch(/nested deeper/);
      });
    });
  });

  describe('the event list', () => {
    it('responds to any query', async () => {
      const names = oneOf(
        'event_type user_id user_name raid_from since until page_size cursor origin __proto__ x',
      );
      const odd = oneOf(
        '% %0 %zz %00 %ff %ED%A0%80 %u0041 + && = %C0%80 2026-02-30 1e2 9999-12-31 0000-01-01',
      );
      const value = fc.oneof(encodedText, odd, urlText, fc.constant('x'.repeat(4_000)));
      const pairs = fc.array(fc.tuple(names, value), { maxLength: 6 });
      const query = fc.oneof(
        urlText,
        pairs.map((all) => all.map((pair) => pair.join('=')).join('&')),
      );
      await holds(query, 250, async (text) => {
        const answer = await send({ target: `${eventsPath}?${text}`.slice(0, 12_000) });

        expectSound(answer);
        expect([200, 400]).toContain(answer.status);
        if (answer.status === 400) expect(problemOf(answer).errors).toEqual(expect.any(Object));
      });
    });

    it('rejects any cursor that was not created for this list', async () => {
      const body = JSON.stringify(eventBody());
      for (let made = 0; made < 2; made += 1)
        await send({ method: 'POST', target: eventsPath, headers: [json], body });
      const page = JSON.parse((await send({ target: `${eventsPath}?page_size=1` })).body) as { next: string };
      const cursor = new URL(page.next).searchParams.get('cursor') ?? '';
      const bytes = Buffer.from(cursor, 'base64url');
      const flipped = fc.nat(bytes.length * 8 - 1).map((bit) => {
        const copy = Uint8Array.from(bytes, (byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        return Buffer.from(copy).toString('base64url');
      });
      const cut = fc.integer({ min: 1, max: cursor.length - 1 }).map((length) => cursor.slice(0, length));
      const others = fc.constantFrom(`${cursor}&event_type=raid`, `${cursor}&cursor=x`, `${cursor}%00`);
      const garbage = encodedText.filter((text) => text !== '');

      expect(await send({ target: `${eventsPath}?page_size=2&cursor=${cursor}` })).toMatchObject({
        status: 200,
      });
      await holds(fc.oneof(flipped, cut, others, garbage), 120, async (text) => {
        const answer = await send({ target: `${eventsPath}?cursor=${text}` });

        expectSound(answer);
        expect(problemOf(answer).errors).toEqual({ cursor: [expect.any(String)] });
      });
    });
  });

  describe('headers', () => {
    it('responds with 401 to any Authorization header except a valid one', async () => {
      const scheme = fc.constantFrom('Token', 'token', 'Bearer', 'Basic', 'Token Token', '', ' ', 'Token,');
      await holds(fc.tuple(scheme, headerText), 80, async ([word, text]) => {
        const answer = await send({ target: eventsPath, headers: [['Authorization', `${word} ${text}`]] });

        expectSound(answer);
        expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Token' } });
      });
    });

    it('responds to any other header', async () => {
      const name = oneOf(
        `Content-Type Idempotency-Key Accept Accept-Encoding Accept-Version Content-Encoding Cookie Expect Forwarded Host
         If-None-Match Origin Range TE Trailer Upgrade X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Request-Id
         Access-Control-Request-Method X-HTTP-Method-Override`,
      );
      const odd = oneOf(
        '* application/json; text/html gzip bytes=0- websocket / [ null 100-continue 999999999999',
      );
      const value = fc.oneof(headerText, odd, fc.constantFrom('', 'x'.repeat(300)));
      const headers = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 });
      const body = JSON.stringify(eventBody());
      await holds(fc.tuple(headers, fc.boolean()), 150, async ([given, isPost]) => {
        const post = { method: 'POST', headers: [...given, json], body };
        const answer = await send({ target: eventsPath, ...(isPost ? post : { headers: given }) });

        expectSound(answer);
        expect([200, 201, 400, 415]).toContain(answer.status);
      });
    });

    it.each([
      ['no host', 'X: 1', 400],
      ['two hosts', 'Host: x\r\nhost: y', 400],
      ['the same host twice', 'Host: x\r\nHost: x', 400],
      ['an unknown expectation', 'Host: x\r\nExpect: a-miracle', 200],
      ['a space in a name', 'Host: x\r\nX Y: 1', 400],
      ['two lengths', 'Host: x\r\nContent-Length: 1\r\nContent-Length: 2', 400],
      ['a negative length', 'Host: x\r\nContent-Length: -1', 400],
      ['a length in hexadecimal', 'Host: x\r\nContent-Length: 0x10', 400],
      ['a length of 10^20', 'Host: x\r\nContent-Length: 100000000000000000000', 400],
      ['a length and chunks', 'Host: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked', 400],
      ['an unknown encoding', 'Host: x\r\nTransfer-Encoding: x', 400],
      ['chunked encoding that is not last', 'Host: x\r\nTransfer-Encoding: chunked, gzip', 400],
    ])('responds to a request with %s as HTTP requires', async (_what, lines, status) => {
      const text = `GET /api/v1/heartbeat HTTP/1.1\r\n${lines}\r\nConnection: close\r\n\r\n`;
      const answer = await raw.exchange(stack.nextUrl, Buffer.from(text));

      expectSound(answer);
      expect(answer.status).toBe(status);
    });

    it('responds to headers that are too large with their limit', async () => {
      const text = `GET /api/v1/heartbeat HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\nConnection: close\r\n\r\n`;
      const answer = await raw.exchange(stack.nextUrl, Buffer.from(text));

      expectSound(answer);
      expect(answer.status).toBe(431);
      expect(problemOf(answer).detail).toBe('The URL and the headers together exceed 16 KiB.');
    });

    it.each([
      ['fewer bytes than its length', 'Content-Length: 100\r\n\r\n{}'],
      ['more bytes than its length', 'Content-Length: 1\r\n\r\n{}'],
      ['a chunk that is cut', 'Transfer-Encoding: chunked\r\n\r\n10\r\n{}'],
      ['a chunk whose size is no number', 'Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n'],
      ['a chunk of 16^16 bytes', 'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
      ['chunks without an end', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'],
      [
        'chunks and a length',
        'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n',
      ],
    ])('rejects a body with %s, or closes the connection', async (_what, rest) => {
      const start = `POST ${eventsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${stack.ownerToken}\r\n`;
      const bytes = Buffer.from(`${start}${json.join(': ')}\r\n${rest}`);
      const answer = await raw.exchange(stack.nextUrl, bytes, true);

      if (answer.status !== 0) expectSound(answer);
      expect([0, 400]).toContain(answer.status);
    });
  });

  describe('a body that does not arrive', () => {
    const type = 'Content-Type: application/json\r\n';

    it.each([
      ['an unknown path', 'POST /nowhere', type, 404],
      ['a path without this method', 'PUT /api/v1/heartbeat', type, 405],
      ['another content type', `POST ${eventsPath}`, 'Content-Type: text/plain\r\n', 415],
      ['the webhook', `POST ${eventsPath}/webhook`, type, 408],
      ['the webhook of a type', `POST ${eventsPath}/raid/webhook`, type, 408],
    ])('at %s gets a response', async (_what, line, headers, status) => {
      const authorization = `Authorization: Token ${stack.ownerToken}\r\n`;
      const request = `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}${headers}Content-Length: 200000\r\n\r\n{`;
      const answer = await raw.exchange(stack.nextUrl, Buffer.from(request));

      expectSound(answer);
      expect(answer).toMatchObject({ status });
    });

    it('is not awaited from a client without access', async () => {
      const authorization = `Authorization: Token ${'0'.repeat(40)}\r\n`;
      const request = `POST ${eventsPath} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}${type}Content-Length: 200000\r\n\r\n{`;
      const answer = await raw.exchange(stack.nextUrl, Buffer.from(request));

      expectSound(answer);
      expect(answer).toMatchObject({ status: 401 });
    });
  });

  describe('methods and paths', () => {
    it('responds to any method', async () => {
      const methods = METHODS.filter((method) => method !== 'CONNECT').join(' ');
      const paths = oneOf(
        `/ * /nothing /timeout /connection /api/v1/heartbeat /api/v1/users /api/v1/users/me /api/docs /api/openapi.json
         /health/ready ${eventsPath} ${eventsPath}/x`,
      );
      const words = fc.string({ unit: fc.constantFrom(...'GETPOSTget-_.!') });
      await holds(fc.tuple(fc.oneof(oneOf(methods), words), paths), 200, async ([method, target]) => {
        const answer = await send({ method, target });

        if (method !== 'HEAD') expectSound(answer);
        if (answer.status === 405) expect(answer.headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
      });
    });

    it.each(['/', '*', '/nothing', eventsPath])(
      'responds to OPTIONS %s outside of a browser, too',
      async (target) => {
        expectSound(await send({ method: 'OPTIONS', target }));
        expectSound(
          await send({ method: 'OPTIONS', target, headers: [['Origin', 'https://overlay.example']] }),
        );
      },
    );

    it('responds to any path', async () => {
      const odd = oneOf(
        `.. . %2F %2f.. %00 % %zz %ff %C3%28 %ED%A0%80 %2e%2e ..%2f \\ ; # ?? é timeout test webhook me stream
         ${'a'.repeat(5_000)} ${'%F0%9F%91%8D'.repeat(255)} ${randomUUID()}`,
      );
      const part = fc.oneof(odd, urlText, encodedText, fc.constant(''));
      const start = oneOf(
        `${eventsPath} /api/v1/twitch-events /api/v1/users /users /api /api/docs /health /`,
      );
      const path = fc.tuple(start, fc.array(part, { maxLength: 4 }));
      await holds(fc.tuple(path, fc.boolean()), 250, async ([[prefix, parts], isPost]) => {
        const target = [prefix, ...parts].join('/').slice(0, 12_000);
        const post = { method: 'POST', headers: [json], body: '{}' };
        expectSound(await send({ target, ...(isPost && post) }));
      });
    });
  });

  describe('raw bytes', () => {
    it('are rejected, or the connection is closed', async () => {
      const version = fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', 'HTTP/2.0', '');
      const line = fc
        .tuple(oneOf(`${METHODS.join(' ')} get`), headerText, version)
        .map((parts) => parts.join(' '));
      const lines = fc.tuple(line, fc.array(headerText, { maxLength: 4 }));
      const text = lines.map(([first, rest]) => Buffer.from([first, ...rest, '', ''].join('\r\n'), 'latin1'));
      await holds(fc.oneof(fc.uint8Array({ minLength: 1 }), text), 150, async (bytes) => {
        const answer = await raw.exchange(stack.nextUrl, bytes, true);

        if (answer.status !== 0) expectSound(answer);
      });
    });

    it('leave no connection open, even when the client never closes its end', async () => {
      const socket = raw.openSocket(stack.nextUrl);
      let isRefused = false;
      socket.on('error', () => (isRefused = true));
      socket.resume().write('garbage\r\n\r\n');
      await once(socket, 'end');

      await eventually(() => {
        socket.write('more'); // fails only when the server has closed the socket
        expect(isRefused).toBe(true);
      });
    });
  });

  describe('webhook', () => {
    const message = { subscription: { type: 'stream.online' }, event: { a: 1 }, events: [], challenge: 'c' };
    const types = fc.constantFrom('notification', 'revocation', 'webhook_callback_verification', 'new', '');
    const targets = oneOf(
      `${eventsPath}/webhook ${eventsPath}/stream-online/webhook ${eventsPath}/timeout/webhook/`,
    );
    const messages = fc.record({ target: targets, type: types, body: nearJson(message) });

    function post(signature: string, { id, time, ...sent }: Message): Promise<RawAnswer> {
      const values = { Id: id, Timestamp: time, Signature: signature, Type: sent.type };
      const all = Object.entries(values).map(
        ([name, value]) => [`Twitch-Eventsub-Message-${name}`, value] as const,
      );
      return send({ method: 'POST', target: sent.target, headers: [json, ...all], body: sent.body });
    }

    it('responds to any signed message', async () => {
      const ids = fc.oneof(fc.uuid(), urlText, fc.constantFrom('', 'x'.repeat(300)));
      await holds(fc.tuple(messages, ids), 150, async ([sent, id]) => {
        const time = new Date().toISOString();
        const hmac = createHmac('sha256', webhookSecrets[1])
          .update(id + time)
          .update(sent.body);
        const answer = await post(`sha256=${hmac.digest('hex')}`, { ...sent, id, time });

        expectSound(answer);
        expect([200, 204, 400]).toContain(answer.status);
      });
    });

    it('responds with 403 to any unsigned message', async () => {
      await holds(fc.tuple(messages, headerText, headerText), 80, async ([sent, signature, id]) => {
        const answer = await post(signature, { ...sent, id, time: new Date().toISOString() });

        expectSound(answer);
        expect(answer.status).toBe(403);
      });
    });
  });
});

interface Message {
  target: string;
  type: string;
  body: string | Uint8Array;
  id: string;
  time: string;
}

import type { AddressInfo } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import { createLogger } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { openRawClient, type RawClient } from '../../test/raw-client.js';
import { createHttpServer } from '../http/http-server.js';
import { RequestLog } from '../http/request-log.js';
import { AccessControl } from './access-control.service.js';
import { callerOf, type Caller } from './caller.js';
import { RateLimits } from './rate-limits.service.js';
import type { TokenLookup } from './token-lookup.service.js';
import { UserTurns } from './user-turns.service.js';

const config = { RATE_LIMIT_REQUESTS: 100, RATE_LIMIT_WRITES: 10, REGISTRATION: 'owner' } as const;

const owner: Caller = {
  ...{ id: '1', username: 'ada', role: 'owner' },
  token: { id: '9', name: null, stamp: 'stamp', limits: {}, kind: 'main' },
};

const clients: RawClient[] = [];
let closeServer = (): Promise<unknown> => Promise.resolve();
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await closeServer();
});

/** Starts a server with owner-only routes. Requests to `/held` wait for `release()`. Every key authenticates as `lookup.caller`. */
async function startServer() {
  const lookup: { caller: Caller | undefined; count: number } = { caller: owner, count: 0 };
  const tokens: Pick<TokenLookup, 'authenticate' | 'identify'> = {
    identify: () => Promise.resolve(lookup.caller),
    authenticate: () => {
      lookup.count += 1;
      const { caller } = lookup;
      return caller
        ? Promise.resolve(caller)
        : Promise.reject(new ServiceError('unauthenticated', 'Invalid token.'));
    },
  };
  const fastify = createHttpServer(false).getInstance();
  new AccessControl(
    tokens as TokenLookup, // Safe cast: AccessControl calls only these methods.
    new RateLimits(config, () => 0),
    new UserTurns(config),
    new RequestLog(createLogger('test', 'silent')),
    config,
  ).watch(fastify);
  const held: (() => void)[] = [];
  const handled: (string | undefined)[] = [];
  const route = { config: { access: 'owner' } } as const;
  fastify.get('/held', route, () => new Promise<string>((resolve) => held.push(() => resolve('done'))));
  fastify.route({
    ...route,
    method: ['GET', 'POST'],
    url: '/handled',
    handler: (request) => {
      handled.push(callerOf(request)?.username);
      return Promise.resolve('done');
    },
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  closeServer = () => fastify.close();
  const { port } = fastify.server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  return {
    lookup,
    held,
    handled,
    open: (bytes: string) => {
      const client = openRawClient(port, { bytes });
      clients.push(client);
      return client;
    },
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
  };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token key\r\n\r\n`;

/** A write whose body lacks the last byte. */
const unfinished =
  'POST /handled HTTP/1.1\r\nHost: x\r\nAuthorization: Token key\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{';

describe(AccessControl.name, () => {
  describe('the turns of a user', () => {
    it('end when their clients leave', async () => {
      const { open, held, handled } = await startServer();
      const leaving = Array.from({ length: 4 }, () => open(get('/held')));
      await eventually(() => expect(held).toHaveLength(4));

      for (const { socket } of leaving) socket.destroy();

      const { statuses } = open(get('/handled'));
      await eventually(() => expect(statuses()).toEqual([200]));
      expect(handled).toEqual(['ada']);
    });
  });

  describe.each<[change: string, caller: Caller | undefined, status: number]>([
    ['the token was revoked', undefined, 401],
    ['the user is no longer an owner', { ...owner, role: 'user' }, 403],
  ])('when %s', (_change, caller, status) => {
    it(`answers ${status} to a write whose body arrives later`, async () => {
      const { open, lookup, handled } = await startServer();
      const { socket, statuses, text } = open(unfinished);
      await eventually(() => expect(lookup.count).toBe(1));

      lookup.caller = caller;
      socket.write('}');

      await eventually(() => expect(statuses()).toEqual([status]));
      expect(text()).toContain('"type":"about:blank"');
      expect(handled).toEqual([]);
    });

    it(`answers ${status} to a request that was waiting for a turn`, async () => {
      const { open, lookup, held, handled, release } = await startServer();
      for (let count = 0; count < 4; count += 1) open(get('/held'));
      await eventually(() => expect(held).toHaveLength(4));
      const { count: lookups } = lookup;
      const { statuses } = open(get('/handled'));
      await eventually(() => expect(lookup.count).toBe(lookups + 1));

      lookup.caller = caller;
      release();

      await eventually(() => expect(statuses()).toEqual([status]));
      expect(handled).toEqual([]);
    });
  });

  it('passes the current rights to the handler, and counts the write once', async () => {
    const { open, lookup, handled } = await startServer();
    const { socket, statuses, text } = open(unfinished);
    await eventually(() => expect(lookup.count).toBe(1));

    lookup.caller = { ...owner, username: 'renamed' };
    socket.write('}');

    await eventually(() => expect(statuses()).toEqual([200]));
    expect(handled).toEqual(['renamed']);
    expect(text()).toMatch(/^ratelimit: "default";r=\d+;t=1, "writes";r=9;t=1\r$/im);
  });
});

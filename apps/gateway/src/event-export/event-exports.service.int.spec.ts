import { once } from 'node:events';
import { get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  errorCatalogue,
  ServiceError,
  type ExportEventsReply,
  type ExportEventsRequest,
} from '@stream-events/contracts';
import type { RequestClient } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import type { Caller } from '../access/caller.js';
import type { TokenLookup } from '../access/token-lookup.service.js';
import { createHttpServer } from '../http/http-server.js';
import { EventExports } from './event-exports.service.js';
import type { ExportLimits } from './export-limits.js';

const pageBytes = 512 * 1024;

/** An in-memory events service. All bytes of page n have the value n. */
class Pages {
  readonly requests: (string | undefined)[] = [];
  /** How many requests to reject, starting with the second page. */
  failures = 0;
  /** Resolves when the first page is ready. */
  ready: Promise<unknown> = Promise.resolve();

  constructor(private readonly count: number) {}

  async request(_contract: unknown, { after }: ExportEventsRequest): Promise<ExportEventsReply> {
    this.requests.push(after);
    await this.ready;
    if (after !== undefined && this.failures > 0) {
      this.failures -= 1;
      throw new ServiceError('unavailable', 'away');
    }
    const page = Number(after ?? 0);
    const next = page + 1 < this.count ? String(page + 1) : null;
    return { bytes: Buffer.alloc(pageBytes, page), count: 2, next };
  }
}

const request: ExportEventsRequest = { filters: {}, limits: {}, format: 'ndjson' };
const limits: ExportLimits = {
  ...{ exports: 4, forOwners: 1, perUser: 2, eventsPerSecond: Infinity, outageMs: 60_000 },
  ...{ minBytesPerSecond: 16 * 1024, slowMs: 60_000 },
};

let server: Server | undefined;
let revoked: string[] = [];
afterEach(() => {
  revoked = [];
  server?.closeAllConnections();
  server?.close();
});

/**
 * Starts a server that responds with exports. The path names the user and the token: `/<user>` a main token, `/<user>/<token>` a named
 * token. The user `owner` is an owner.
 */
async function serve(pages: Pages, overrides: Partial<ExportLimits> = {}) {
  const checked: string[] = [];
  const tokens: Pick<TokenLookup, 'findEnded'> = {
    findEnded: (stamps) => {
      checked.push(...stamps);
      return Promise.resolve(
        stamps.filter((stamp) => revoked.includes(stamp)).map((stamp) => ({ stamp, isChanged: false })),
      );
    },
  };
  const metrics = new Registry();
  const exports = new EventExports(
    pages as unknown as RequestClient, // Safe cast: exports call only `request`.
    tokens as TokenLookup, // Safe cast: exports call only `findEnded`.
    createLogger('test', 'silent'),
    metrics,
    { ...limits, ...overrides },
  );
  const sent: Promise<void>[] = [];
  const fastify = createHttpServer(false).getInstance();
  fastify.get('/*', ({ url }, reply) => {
    const { raw: response } = reply.hijack();
    const [id = '', name = null] = url.slice(1).split('/');
    const token = { id: url, name, stamp: url, limits: {} };
    const caller: Caller = {
      ...{ id, username: id, role: id === 'owner' ? 'owner' : 'user' },
      token: name === null ? { ...token, kind: 'main' } : { ...token, kind: 'named', scopes: [] },
    };
    const client = { caller, requestId: '1', begin: () => response };
    sent.push(
      exports.send(request, client).catch((error: unknown) => {
        response.writeHead(error instanceof ServiceError ? errorCatalogue[error.code].status : 500).end();
      }),
    );
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  ({ server } = fastify);
  const { port } = server.address() as AddressInfo; // Safe cast: address() of a TCP server is an AddressInfo.
  /** Starts an export without reading the response. */
  const open = async (token = 'a'): Promise<IncomingMessage> => {
    const [response] = (await once(get(`http://127.0.0.1:${port}/${token}`), 'response')) as [
      IncomingMessage,
    ];
    response.on('error', () => undefined);
    return response;
  };
  const metric = async (name: string): Promise<number | undefined> =>
    (await metrics.getSingleMetric(name)?.get())?.values[0]?.value;
  return { exports, open, sent, metric, checked };
}

async function read(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe(EventExports.name, () => {
  it('sends all pages in order and counts their events', async () => {
    const pages = new Pages(5);
    const { open, metric } = await serve(pages);

    const body = await read(await open());

    expect(body.equals(Buffer.concat([0, 1, 2, 3, 4].map((page) => Buffer.alloc(pageBytes, page))))).toBe(
      true,
    );
    expect(pages.requests).toEqual([undefined, '1', '2', '3', '4']);
    expect(await metric('gateway_exported_events_total')).toBe(10);
    await eventually(async () => expect(await metric('gateway_exports')).toBe(0));
  });

  it('reads at the pace of the client', async () => {
    // Far more than the buffers hold, and few enough for a busy machine.
    const pages = new Pages(200);
    const { open } = await serve(pages);
    const response = await open();
    // Reading continues until the buffers of the operating system (some megabytes) are full.
    await eventually(() => expect(pages.requests.length).toBeGreaterThan(1));
    const untilStill = async (): Promise<number> => {
      for (let before = -1; ;) {
        const now = pages.requests.length;
        if (now === before) return now;
        before = now;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    };
    expect(await untilStill()).toBeLessThan(100);

    response.resume();

    await eventually(() => expect(pages.requests).toHaveLength(200));
  });

  it('reads no faster than its limit', async () => {
    const { open } = await serve(new Pages(6), { eventsPerSecond: 40 });
    const begunAt = performance.now();

    await read(await open());

    // Five more pages follow. Each one waits 50 ms, because the previous page has two events.
    expect(performance.now() - begunAt).toBeGreaterThan(240);
  });

  it('ends its reads when the client leaves', async () => {
    const pages = new Pages(100_000);
    const { open, sent, metric } = await serve(pages);
    const response = await open();

    response.destroy();

    await sent[0];
    const requests = pages.requests.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(pages.requests).toHaveLength(requests);
    expect(await metric('gateway_exports')).toBe(0);
  });

  it('continues after an outage of the events service', async () => {
    const pages = new Pages(3);
    pages.failures = 2;
    const { open } = await serve(pages);

    expect(await read(await open())).toHaveLength(3 * pageBytes);
    expect(pages.requests).toEqual([undefined, '1', '1', '1', '2']);
  });

  it('cuts the response when the outage lasts too long', async () => {
    const pages = new Pages(3);
    pages.failures = Infinity;
    const { open, sent } = await serve(pages, { outageMs: 300 });

    await expect(read(await open())).rejects.toThrow('aborted');
    await sent[0];
  });

  it('rejects exports above its limits until others have ended', async () => {
    const { open, sent } = await serve(new Pages(100_000));
    const first = await open('a');
    await open('a');
    expect((await open('a')).statusCode).toBe(429);
    await open('b');
    expect((await open('c')).statusCode).toBe(503);

    first.destroy();
    await sent[0];

    expect((await open('a')).statusCode).toBe(200);
  });

  it('keeps one export free for owners', async () => {
    const { open } = await serve(new Pages(100_000));
    for (const user of ['a', 'a', 'b']) expect((await open(user)).statusCode).toBe(200);
    expect((await open('b')).statusCode).toBe(503);

    expect((await open('owner')).statusCode).toBe(200);
    expect((await open('owner')).statusCode).toBe(503);
  });

  it('leaves an export to the user of a named token', async () => {
    const { open } = await serve(new Pages(100_000));
    expect((await open('a/leaked')).statusCode).toBe(200);
    expect((await open('a/leaked')).statusCode).toBe(429);

    expect((await open('a')).statusCode).toBe(200);
    expect((await open('a')).statusCode).toBe(429);
  });

  it('cuts its responses when it stops, and rejects further exports', async () => {
    const { exports, open, sent } = await serve(new Pages(100_000));
    const response = await open();

    exports.stop();

    await expect(read(response)).rejects.toThrow('aborted');
    await sent[0];
    expect((await open()).statusCode).toBe(503);
  });

  it('cuts the response when the token is revoked', async () => {
    const { open, sent } = await serve(new Pages(100_000));
    const [response, other] = [await open('a'), await open('b')];

    revoked = ['/a'];

    await sent[0];
    await expect(read(response)).rejects.toThrow('aborted');
    expect(other.destroyed).toBe(false);
  });

  it('rejects an export whose token was revoked while it reads the first page', async () => {
    revoked = ['/a'];
    const pages = new Pages(3);
    const { open, metric, checked } = await serve(pages);
    pages.ready = eventually(() => expect(checked).toContain('/a'));

    expect((await open('a')).statusCode).toBe(401);
    expect((await open('b')).statusCode).toBe(200);
    await eventually(async () => expect(await metric('gateway_exports')).toBe(0));
  });

  it('cuts the response when the client reads nothing for long', async () => {
    const { open, sent } = await serve(new Pages(100_000), { slowMs: 300 });
    await open();

    await expect(sent[0]).resolves.toBeUndefined();
  });

  it('cuts the response when the client reads more slowly than the limit', async () => {
    const { open, sent } = await serve(new Pages(100_000), { slowMs: 300, minBytesPerSecond: 2 ** 40 });
    const response = await open();
    // Pauses after each chunk, so that data always waits for the client.
    response.on('data', () => {
      response.pause();
      setTimeout(() => response.resume(), 5);
    });

    await expect(sent[0]).resolves.toBeUndefined();
    expect(response.complete).toBe(false);
  });
});

import { eventFilters } from '@stream-events/contracts';
import { bodiesByRoute, bodySeeds, bodyWords } from '../body-seeds.js';
import type { FuzzBed } from '../fuzz-bed.js';
import { querySeeds } from '../parsers/lists.js';
import type { Random } from '../random.js';
import { readMessageInput, webhookSeeds, webhookWords } from '../webhook-messages.js';
import { HttpExchanges, type Exchange } from './http-exchange.js';
import { localAddress, overloaded, type WireTarget } from './wire-target.js';

const eventsPath = '/api/v1/platform-events';
const concurrency = 32;

interface Request {
  method: string;
  target: string;
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
}

/** Platform messages to the callbacks with and without an event type in the path. */
export function webhookWireTarget({ port, system }: FuzzBed): WireTarget {
  return httpTarget(port, {
    name: 'webhook',
    description: 'signed and unsigned messages to both callbacks',
    seeds: webhookSeeds,
    words: webhookWords,
    toRequest: (input) => {
      const { headers, body, pathType } = readMessageInput(input, system.webhookSecret);
      const path = pathType === undefined ? '/webhook' : `/${encodeURIComponent(pathType)}/webhook`;
      return {
        method: 'POST',
        target: eventsPath + path,
        headers: { 'content-type': 'application/json', ...withoutFraming(headers) },
        body,
      };
    },
  });
}

/** Queries and paths of all lists, with cursors, filters, and ids. */
export function queryWireTarget({ port, system }: FuzzBed): WireTarget {
  const lists = [
    '/api/v1/audit-log',
    '/api/v1/dead-letters',
    '/api/v1/platform/subscriptions',
    '/api/v1/tokens',
  ];
  return httpTarget(port, {
    name: 'cursors and filters',
    description:
      'queries of the event list, of the export, and of every other list, with changed paths and ids',
    seeds: [
      ...querySeeds.map((query) => `${eventsPath}?${query}`),
      ...lists.map((path) => `${path}?page_size=2&cursor=AQABmqPBf158wp1cOxpqHwwR3q2-7wAAAAA`),
      '/api/v1/audit-log?action=login&user=owner&since=2026-11-21T00:00:00Z',
      `${eventsPath}/export?format=csv&event_type=raid&user_id=1&after=019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11`,
      `${eventsPath}/019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11`,
      '/api/v1/streamers/019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11/streams?page_size=2',
      '/api/v1/platform/subscriptions?status=enabled&type=stream.online',
      '/api/v1/tokens?user=019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
      '/api/v1/twitch/helix-endpoints/019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11/',
    ],
    words: [
      ...Object.keys(eventFilters).map((name) => `&${name}=`),
      '&cursor=',
      '&page_size=',
      '/',
      '%2f',
      '../',
    ],
    toRequest: (input) => ({ method: 'GET', target: printTarget(input), headers: authorize(system.token) }),
  });
}

/** Bodies for every route that accepts one. */
export function bodyWireTarget({ port, system }: FuzzBed): WireTarget {
  const routes = Object.keys(bodiesByRoute);
  return httpTarget(port, {
    name: 'bodies',
    description: 'bodies to every route that has one, with several content types and encodings',
    // The first line is the route. If a mutation changes it, another route gets the body.
    seeds: [
      ...Object.entries(bodiesByRoute).map(([route, body]) => `${route}\n${JSON.stringify(body)}`),
      ...bodySeeds.slice(-2).map((body) => `${loginRoute}\n${body}`),
    ],
    words: bodyWords,
    toRequest: (input, random) => {
      const lineEnd = input.indexOf('\n');
      const line = input.toString('latin1', 0, Math.max(0, lineEnd));
      const [method = '', target = ''] = (routes.includes(line) ? line : random.pick(routes)).split(' ');
      const body = input.subarray(lineEnd + 1);
      return { method, target, headers: { ...authorize(system.token), ...pickHeaders(body, random) }, body };
    },
  });
}

const loginRoute = 'POST /api-token-auth';
const json = 'application/json';
const otherTypes = [
  `${json}; charset=utf-8`,
  `${json};charset=utf-16`,
  'text/plain',
  'application/x-www-form-urlencoded',
];

/** Picks headers for a body. Most of the time, the content type fits the body. */
function pickHeaders(body: Buffer, random: Random): Record<string, string> {
  const fitting = body.includes('=') && !body.includes('{') ? 'application/x-www-form-urlencoded' : json;
  const key = body.toString('latin1', 0, 300).replace(/[^ -~\x80-\xff]/g, '');
  return {
    ...(!random.chance(0.01) && { 'content-type': random.chance(0.95) ? fitting : random.pick(otherTypes) }),
    ...(random.chance(0.01) && { 'content-encoding': 'gzip' }),
    ...(random.chance(0.05) && { 'idempotency-key': key }),
  };
}

type RequestTarget = Pick<WireTarget, 'name' | 'description' | 'seeds' | 'words'> & {
  toRequest: (input: Buffer, random: Random) => Request;
};

function httpTarget(port: number, { toRequest, ...target }: RequestTarget): WireTarget {
  const idle = Array.from(
    { length: concurrency },
    (_, index) => new HttpExchanges(port, localAddress(index)),
  );
  return {
    ...target,
    concurrency,
    send: async (input, random) => {
      // `idle` contains only connections without a pending request.
      const connection = idle.pop() ?? new HttpExchanges(port, localAddress(concurrency));
      try {
        return judge(await connection.send(printRequest(toRequest(input, random))));
      } finally {
        idle.push(connection);
      }
    },
    close: () => {
      for (const connection of idle) connection.close();
    },
  };
}

/** Returns the status as the outcome. Throws if the API does not promise such a response. */
export function judge({ status, headers, body }: Exchange): string {
  const outcome = judgeHead({ status, headers, body });
  if (/^application\/(problem\+)?json/.test(headers['content-type'] ?? '')) JSON.parse(body);
  return outcome;
}

/** Like `judge`, but ignores the body. */
export function judgeHead({ status, headers, body }: Exchange): string {
  if (status === 503 && headers['retry-after'] !== undefined) return overloaded;
  if (status === 0) throw new Error('the connection was closed without a response');
  if (status >= 500 || status < 200) throw new Error(`status ${status}: ${body.slice(0, 500)}`);
  const type = headers['content-type'] ?? '';
  if (status >= 400 && !type.startsWith('application/problem+json'))
    throw new Error(`status ${status} has the content type "${type}"`);
  return String(status);
}

function printRequest({ method, target, headers, body }: Request): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: fuzzing',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body ? [`Content-Length: ${body.length}`] : []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
}

function authorize(token: string): Record<string, string> {
  return { authorization: `Token ${token}` };
}

/** Drops headers that change where the message ends. `raw-http.ts` covers them. */
function withoutFraming(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const framing = /^(host|content-length|transfer-encoding|connection|upgrade|expect|trailer|te)$/;
  const entries = Object.entries(headers).filter(([name]) => name !== '' && !framing.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value).replace(/[\r\n]/g, ' ')]));
}

/** Encodes spaces and control characters, which a request target must not contain. Keeps everything else. */
function printTarget(input: Buffer): string {
  const text = input.toString('latin1').replace(/[\0- \x7f]/g, (character) => encodeURIComponent(character));
  return text.startsWith('/') ? text : `/${text}`;
}

import { randomBytes } from 'node:crypto';

/** A member's credentials, and the start of the EVENTS stream. Empty for strangers. */
export interface Member {
  token: string;
  position: string;
}

/** What some connections of an attack do. The attacker process opens them. */
export interface Action {
  name: string;
  connections: number;
  /** Sent when the connection opens. */
  begin: (member: Member) => string;
  /** Sent again and again after that. */
  drip?: string;
  dripMs?: number;
  /** Whether the connection never reads its responses. */
  isUnread?: boolean;
  /** Whether the connection sends `begin` again after each response. */
  isRepeated?: boolean;
  /** Whether the connection closes after a response other than 200. The gateway keeps it open. */
  isStream?: boolean;
  /** Time until the connection closes. */
  lifeMs?: number;
  /** Pause before the attacker reopens a closed connection. With immediate reconnects, the attacker would take most of the shared CPU. */
  reopenMs: { min: number; spread: number };
}

/**
 * - `holding` attacks keep thousands of connections open, from one address and from many.
 * - `flood` attacks send as much as they can on few connections.
 * - `member` attacks send requests of a user with a token, under the default limits.
 */
export interface Attack {
  name: string;
  kind: 'holding' | 'flood' | 'member';
  description: string;
  actions: readonly Action[];
}

/** The numbers of addresses to attack from. */
export function addressesOf({ kind }: Attack): readonly number[] {
  return kind === 'holding' ? [1, 200] : [1];
}

const eventsPath = '/api/v1/platform-events';

const heartbeat = 'GET /api/v1/heartbeat HTTP/1.1\r\nHost: attack\r\n\r\n';

function post(path: string, headers: readonly string[] = []): string {
  const all = ['Host: attack', 'Content-Type: application/json', 'Content-Length: 200000', ...headers];
  return `POST ${path} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`;
}

/** Headers of a platform message with an invalid signature. */
function lookAlikeHeaders(): string[] {
  const values = {
    Id: randomBytes(16).toString('hex'),
    Timestamp: new Date().toISOString(),
    Signature: `sha256=${randomBytes(32).toString('hex')}`,
    Type: 'notification',
  };
  return Object.entries(values).map(([name, value]) => `Twitch-Eventsub-Message-${name}: ${value}`);
}

function handshake(): string {
  const key = randomBytes(16).toString('base64');
  return `GET /ws/platform-events HTTP/1.1\r\nHost: attack\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;
}

/** A first message with a wrong token, as a masked frame. An all-zero mask keeps the text readable. */
function wrongToken(): string {
  const text = JSON.stringify({ token: randomBytes(20).toString('hex') });
  return `\x81${String.fromCharCode(0x80 | text.length)}\0\0\0\0${text}`;
}

function request(method: string, path: string, token: string, body = ''): string {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: member', `Authorization: Token ${token}`];
  if (body !== '') head.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function catchUp({ token, position }: Member): string {
  return request('GET', `${eventsPath}/stream?after=${position}&event_type=nothing`, token);
}

const padding = (bytes: number): string => JSON.stringify({ padding: 'x'.repeat(bytes) });
// Just below the body limit of 256 KiB.
const largeEvent = `{"event_type":"member","event_source":"Member","event_data":${padding(250_000)}}`;

const atOnce = { min: 0, spread: 0 };

function holding(
  name: string,
  description: string,
  action: Pick<Action, 'begin' | 'drip' | 'isUnread'>,
): Attack {
  const reopenMs = { min: 5_000, spread: 10_000 };
  return { name, description, kind: 'holding', actions: [{ name, connections: 5_000, reopenMs, ...action }] };
}

function flood(
  name: string,
  description: string,
  action: Pick<Action, 'connections' | 'begin' | 'drip'>,
): Attack {
  const reopenMs = { min: 100, spread: 0 };
  return { name, description, kind: 'flood', actions: [{ name, dripMs: 100, reopenMs, ...action }] };
}

export const attacks: readonly Attack[] = [
  holding('slow bodies', 'announces a body of 200,000 bytes to the login, and sends one byte per second', {
    begin: () => post('/api-token-auth'),
    drip: ' ',
  }),
  holding(
    'slow messages',
    'announces a body of 200,000 bytes to the webhook, with headers like the platform’s, and sends one byte per second',
    { begin: () => post(`${eventsPath}/webhook`, lookAlikeHeaders()), drip: ' ' },
  ),
  holding('slow headers', 'sends one byte of a header per second', {
    begin: () => 'GET /api/v1/heartbeat HTTP/1.1\r\nHost: attack\r\nX-Slow: ',
    drip: 'x',
  }),
  holding('unread responses', 'requests the API description 16 times, and reads no response', {
    begin: () => 'GET /api/openapi.json HTTP/1.1\r\nHost: attack\r\n\r\n'.repeat(16),
    isUnread: true,
  }),
  holding('half-open WebSockets', 'opens a WebSocket, and sends no token', { begin: handshake }),
  holding('wrong tokens', 'opens a WebSocket, and sends a wrong token', {
    begin: () => handshake() + wrongToken(),
  }),
  flood('pipelined requests', 'sends 0.5 MB of requests per second, and waits for no response', {
    connections: 1,
    begin: () => '',
    // 0.05 MB ten times per second.
    drip: heartbeat.repeat(Math.round(50_000 / heartbeat.length)),
  }),
  flood(
    'small frames',
    'opens a WebSocket, sends no token, and sends 0.6 MB of empty pings and pongs per second',
    {
      connections: 20,
      begin: handshake,
      // Two masked frames of 6 bytes each. All connections together send 12 MB per second.
      drip: '\x89\x80\0\0\0\0\x8a\x80\0\0\0\0'.repeat(5_000),
    },
  ),
  {
    name: 'everything in a loop',
    kind: 'member',
    description:
      'adds events of 250 kB (8 connections) and test events of 0.5 kB (8), lists 100 events (16), exports everything (4), and resumes at the start of the stream (20, each for 3 s). Each connection sends its next request as soon as the previous response arrives',
    actions: [
      {
        name: 'events',
        connections: 8,
        begin: ({ token }) => request('POST', eventsPath, token, largeEvent),
        isRepeated: true,
        reopenMs: atOnce,
      },
      {
        name: 'tests',
        connections: 8,
        begin: ({ token }) => request('POST', `${eventsPath}/member/test`, token, padding(500)),
        isRepeated: true,
        reopenMs: atOnce,
      },
      {
        name: 'lists',
        connections: 16,
        begin: ({ token }) => request('GET', `${eventsPath}?page_size=100&event_type=channel-follow`, token),
        isRepeated: true,
        reopenMs: atOnce,
      },
      {
        name: 'exports',
        connections: 4,
        begin: ({ token }) => request('GET', `${eventsPath}/export`, token),
        isStream: true,
        reopenMs: atOnce,
      },
      {
        name: 'catch-ups',
        connections: 20,
        begin: catchUp,
        isStream: true,
        lifeMs: 3_000,
        reopenMs: atOnce,
      },
    ],
  },
  {
    name: '2,000 catch-ups',
    kind: 'member',
    description:
      'resumes at the start of the stream on 2,000 connections. The member reopens a refused connection after 5 s',
    actions: [
      {
        name: 'catch-ups',
        connections: 2_000,
        begin: catchUp,
        isStream: true,
        reopenMs: { min: 5_000, spread: 0 },
      },
    ],
  },
];

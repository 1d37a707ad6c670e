import { randomBytes } from 'node:crypto';

/** What the connections of an attack send. The attacker process opens them. */
export interface Attack {
  name: string;
  description: string;
  /** Sent once, when the connection opens. */
  begin: () => string;
  /** Sent every second after that. */
  drip?: string;
  /** Whether the connection never reads its responses. */
  isUnread?: boolean;
  /** Set for an attack with few connections that send as much as they can. */
  flood?: {
    size: AttackSize;
    /** How often the connection sends `drip`. */
    dripMs: number;
    /** Pause before the attacker reopens a closed connection. */
    reopenMs: number;
  };
}

export interface AttackSize {
  addresses: number;
  perAddress: number;
}

const manyConnections: readonly AttackSize[] = [
  { addresses: 1, perAddress: 5_000 },
  { addresses: 200, perAddress: 25 },
];

/** The sizes of an attack: 5,000 connections, from one address and from many, or the size of a flood. */
export function sizesOf({ flood }: Attack): readonly AttackSize[] {
  return flood ? [flood.size] : manyConnections;
}

const webSocketPath = '/ws/platform-events';

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
  return `GET ${webSocketPath} HTTP/1.1\r\nHost: attack\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;
}

/** A first message with a wrong token, as a masked frame. An all-zero mask keeps the text readable. */
function wrongToken(): string {
  const text = JSON.stringify({ token: randomBytes(20).toString('hex') });
  return `\x81${String.fromCharCode(0x80 | text.length)}\0\0\0\0${text}`;
}

export const attacks: readonly Attack[] = [
  {
    name: 'slow bodies',
    description: 'announces a body of 200,000 bytes to the login, and sends one byte per second',
    begin: () => post('/api-token-auth'),
    drip: ' ',
  },
  {
    name: 'slow messages',
    description:
      'announces a body of 200,000 bytes to the webhook, with headers like the platform’s, and sends one byte per second',
    begin: () => post('/api/v1/platform-events/webhook', lookAlikeHeaders()),
    drip: ' ',
  },
  {
    name: 'slow headers',
    description: 'sends one byte of a header per second',
    begin: () => 'GET /api/v1/heartbeat HTTP/1.1\r\nHost: attack\r\nX-Slow: ',
    drip: 'x',
  },
  {
    name: 'unread responses',
    description: 'requests the API description 16 times, and reads no response',
    begin: () => 'GET /api/openapi.json HTTP/1.1\r\nHost: attack\r\n\r\n'.repeat(16),
    isUnread: true,
  },
  {
    name: 'half-open WebSockets',
    description: 'opens a WebSocket, and sends no token',
    begin: handshake,
  },
  {
    name: 'wrong tokens',
    description: 'opens a WebSocket, and sends a wrong token',
    begin: () => handshake() + wrongToken(),
  },
  {
    name: 'pipelined requests',
    description: 'sends 0.5 MB of requests per second, and waits for no response',
    begin: () => '',
    // 0.05 MB ten times per second.
    drip: heartbeat.repeat(Math.round(50_000 / heartbeat.length)),
    flood: { size: { addresses: 1, perAddress: 1 }, dripMs: 100, reopenMs: 100 },
  },
  {
    name: 'small frames',
    description: 'opens a WebSocket, sends no token, and sends 0.6 MB of empty pings and pongs per second',
    begin: handshake,
    // Two masked frames of 6 bytes each. All connections together send 12 MB per second.
    drip: '\x89\x80\0\0\0\0\x8a\x80\0\0\0\0'.repeat(5_000),
    flood: { size: { addresses: 1, perAddress: 20 }, dripMs: 100, reopenMs: 100 },
  },
];

/** A request that a member repeats on each of its connections. */
export interface MemberAction {
  name: string;
  connections: number;
  /** Makes the request. `position`: the start of the EVENTS stream. */
  make: (member: { token: string; position: string }) => string;
  /** Whether the response is a stream, which takes the connection. Otherwise the connection sends the next request after a response. */
  isStream?: boolean;
  /** After this time, a stream is closed and opened again. */
  streamMs?: number;
  /** How long the member waits after a response or stream that failed. Default: not at all. */
  restMs?: number;
}

/** What one member with valid credentials does, as fast as the service allows, with the default limits. */
export interface MemberAttack {
  name: string;
  description: string;
  /** By how much it may raise the p99 of others. */
  maxRatio: number;
  /** Whether the gateway refuses most of what the member sends, as a bare server would. */
  isRefused?: boolean;
  actions: readonly MemberAction[];
}

const eventsPath = '/api/v1/platform-events';

function request(method: string, path: string, token: string, body = ''): string {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: member', `Authorization: Token ${token}`];
  if (body !== '') head.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function eventOf(bytes: number): string {
  const data = JSON.stringify({ padding: 'x'.repeat(bytes) });
  return `{"event_type":"member","event_source":"Member","event_data":${data}}`;
}

// Below the limit of 256 KiB for a body.
const largeEvent = eventOf(250_000);
const smallTest = JSON.stringify({ padding: 'x'.repeat(500) });

const liveFrom = (position: string): string => `${eventsPath}/stream?after=${position}&event_type=nothing`;

export const memberAttacks: readonly MemberAttack[] = [
  {
    name: 'everything in a loop',
    maxRatio: 1.25,
    description:
      'adds events of 250 kB (8 connections) and test events of 0.5 kB (8), lists 100 events (16), exports everything (4), and resumes at the start of the stream (20, each for 3 s), with the next request as soon as there is a response',
    actions: [
      { name: 'events', connections: 8, make: ({ token }) => request('POST', eventsPath, token, largeEvent) },
      {
        name: 'tests',
        connections: 8,
        make: ({ token }) => request('POST', `${eventsPath}/member/test`, token, smallTest),
      },
      {
        name: 'lists',
        connections: 16,
        make: ({ token }) => request('GET', `${eventsPath}?page_size=100&event_type=channel-follow`, token),
      },
      {
        name: 'exports',
        connections: 4,
        make: ({ token }) => request('GET', `${eventsPath}/export`, token),
        isStream: true,
      },
      {
        name: 'catch-ups',
        connections: 20,
        make: ({ token, position }) => request('GET', liveFrom(position), token),
        isStream: true,
        streamMs: 3_000,
      },
    ],
  },
  {
    name: '2,000 catch-ups',
    maxRatio: 2,
    isRefused: true,
    description:
      'resumes at the start of the stream on 2,000 connections. A connection that the gateway refuses is opened again after 5 s',
    actions: [
      {
        name: 'catch-ups',
        connections: 2_000,
        make: ({ token, position }) => request('GET', liveFrom(position), token),
        isStream: true,
        restMs: 5_000,
      },
    ],
  },
];

/** A request that a member repeats on each of its connections. */
export interface MemberAction {
  name: string;
  connections: number;
  /** Builds the request. `position` is the start of the EVENTS stream. */
  make: (member: { token: string; position: string }) => string;
  /**
   * Whether the response is an endless stream that occupies the connection. If not, the connection sends the next request after each
   * response.
   */
  isStream?: boolean;
  /** Time until the member closes a stream and opens it again. */
  streamMs?: number;
  /** Pause after a failed request. Default: 0. */
  restMs?: number;
}

/** What one member with valid credentials does at full speed, under the default limits. */
export interface MemberAttack {
  name: string;
  description: string;
  /** Whether the gateway refuses most of the member's requests. */
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

// Just below the body limit of 256 KiB.
const largeEvent = eventOf(250_000);
const smallTest = JSON.stringify({ padding: 'x'.repeat(500) });

const liveFrom = (position: string): string => `${eventsPath}/stream?after=${position}&event_type=nothing`;

export const memberAttacks: readonly MemberAttack[] = [
  {
    name: 'everything in a loop',
    description:
      'adds events of 250 kB (8 connections) and test events of 0.5 kB (8), lists 100 events (16), exports everything (4), and resumes at the start of the stream (20, each for 3 s). Each connection sends its next request as soon as the previous response arrives',
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
    isRefused: true,
    description:
      'resumes at the start of the stream on 2,000 connections. The member reopens a refused connection after 5 s',
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

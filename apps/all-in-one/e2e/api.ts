import { randomUUID } from 'node:crypto';
import type { NewEvent } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';

/** An event as the API returns it. */
export interface EventRecord {
  id: string | null;
  event_id: string | null;
  event_type: string;
  event_source: string;
  event_data: Record<string, unknown>;
  created: string;
  origin: string;
}

export interface EventPage {
  next: string | null;
  previous: string | null;
  results: EventRecord[];
}

/** An API error (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: Record<string, string[]>;
}

/** The content type of API errors. The charset parameter is optional because JSON is always UTF-8. */
export const problemType = /^application\/problem\+json(; charset=utf-8)?$/;

/** `json` is null when the body is not JSON. */
export interface Answer<Body> {
  status: number;
  headers: Headers;
  /** The body, without the newline after a final `}` or `]`. */
  text: string;
  json: Body;
}

export interface RequestOptions {
  /** Null sends the request without a token. */
  token?: string | null;
  /** Strings and bytes are sent unchanged, other values as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Gateway address. By default, requests rotate through the gateways. */
  gateway?: string;
}

export async function send<Body>(
  method: string,
  url: string,
  { token, body, headers }: RequestOptions,
): Promise<Answer<Body>> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token != null && { authorization: `Token ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = (await response.text()).replace(/([}\]])\n$/, '$1');
  // The caller names the expected type and asserts on the real body.
  return { status: response.status, headers: response.headers, text, json: parse(text) as Body };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const eventsPath = '/api/v1/platform-events';

/** Returns a valid body for `POST /api/v1/platform-events`. Pass only the fields that the test is about. */
export function eventBody(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    event_type: 'stream-offline',
    event_source: 'PlatformSub',
    event_data: {
      broadcaster_user_id: '4711',
      broadcaster_user_login: 'mira_plays',
      broadcaster_user_name: 'Mira_Plays',
    },
    ...fields,
  };
}

/** Returns an event type that is unique to the test, so that a filter by this type finds only the test's events. */
export function uniqueType(prefix = 'type'): string {
  return `${prefix}-${randomUUID()}`;
}

/** Returns an event as the gateway sends it to the events service. `time` is the time of receipt in milliseconds since 1970. */
export function newEvent({ time, ...fields }: Partial<NewEvent> & { time?: number } = {}): NewEvent {
  return {
    id: uuidV7(time === undefined ? {} : { msecs: time }),
    eventId: null,
    eventType: 'stream-offline',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{"broadcaster_user_id":"4711"}',
    idempotencyKey: null,
    ...fields,
  };
}

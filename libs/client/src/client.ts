import createApiClient, { defaultPathSerializer, type Client as ApiClient } from 'openapi-fetch';
import type { paths } from './api.js';
import { EventStream } from './event-stream.js';
import { LiveEvents, type LiveCallbacks } from './live-events.js';
import { printLiveQuery, type LiveFilters } from './live-event.js';
import { WebSocketStream, type WebSocketLike } from './web-socket-stream.js';

/** The service to connect to, and the user's token. */
export interface ClientOptions {
  /** Service URL, for example `http://127.0.0.1:8000`. */
  url: string;
  /** Access token of a user of the service. */
  token: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Replaces the global `WebSocket`. Node has had one since version 22. */
  WebSocket?: (new (url: string) => WebSocketLike) | undefined;
}

/** Which live events to receive, and how. */
export interface LiveOptions extends LiveCallbacks {
  /** Default: all events. */
  filters?: LiveFilters | undefined;
  /** Resumes after this position and delivers the missed events. Default: only new events. */
  after?: string | undefined;
  /** Name of this connection. Replays, rehearsals, and controls can target it. */
  name?: string | undefined;
  /**
   * `server-sent` (the default) reads events only as fast as your loop handles them. Use `web-socket` for pages that people open in many
   * tabs: browsers open at most six HTTP/1.1 connections per host, and WebSockets do not count.
   */
  transport?: 'server-sent' | 'web-socket' | undefined;
  /** The client reconnects after this many milliseconds of silence. Default: 45,000. */
  silenceMs?: number | undefined;
}

/** A client of the Stream Event Service. */
export interface Client {
  /**
   * The REST API, typed. `await api.GET('/api/v1/streamers')` returns `{ data, error, response }`. After a 4xx or 5xx response of the
   * service, `error` is the problem document; a proxy can send another body. Network failures throw, and so do the path parameters `.` and
   * `..`.
   */
  api: ApiClient<paths>;
  /**
   * Live events, in order and without duplicates, across reconnects: `for await (const event of client.live())`.
   *
   * @throws TypeError if `after` contains characters that no header can carry, or if no WebSocket is available for the transport
   */
  live(options?: LiveOptions): LiveEvents;
}

// The service sends something every 15 s. After three missing messages, the client treats the connection as dead.
const defaultSilenceMs = 45_000;

/**
 * Creates a client, which connects on first use.
 *
 * @throws TypeError if `url` is not a URL, or if `token` is missing or cannot be sent in a header
 */
export function createClient(options: ClientOptions): Client {
  const { url, token, fetch = globalThis.fetch } = options;
  const { WebSocket = (globalThis as Pick<ClientOptions, 'WebSocket'>).WebSocket } = options; // Safe cast: Node 20 has no WebSocket.
  const baseUrl = new URL(url).href.replace(/\/+$/, '');
  const headers = { Authorization: `Token ${token}` };
  refuseUnsendable('token', token);
  return {
    api: createApiClient<paths>({ baseUrl, headers, fetch, pathSerializer: printPath }),
    live: ({ filters = {}, name, after, transport, silenceMs = defaultSilenceMs, ...callbacks } = {}) => {
      if (after) refuseUnsendable('position', after);
      const query = printLiveQuery(filters, name, callbacks.onControl !== undefined);
      if (transport !== 'web-socket') {
        const request = {
          fetch,
          url: `${baseUrl}/api/v1/platform-events/stream${query}`,
          headers,
          silenceMs,
        };
        return new LiveEvents((signal) => new EventStream(request, signal), callbacks, after || undefined);
      }
      if (!WebSocket) throw new TypeError('This runtime has no WebSocket: pass one to createClient');
      const socketUrl = `${baseUrl.replace(/^http/, 'ws')}/ws/platform-events/${query}`;
      const request = { WebSocket, url: socketUrl, token, silenceMs };
      return new LiveEvents((signal) => new WebSocketStream(request, signal), callbacks, after || undefined);
    },
  };
}

/**
 * Inserts the parameters into a path. Rejects `.` and `..`, which no encoding protects: `fetch` resolves them, so the request would reach
 * another route.
 */
function printPath(template: string, parameters: Record<string, unknown>): string {
  for (const [name, value] of Object.entries(parameters))
    if (value === '.' || value === '..') throw new TypeError(`The path parameter ${name} cannot be ${value}`);
  return defaultPathSerializer(template, parameters);
}

/**
 * Rejects values that cannot be sent in a header, because every connection attempt would fail. The message does not contain the value,
 * which can be secret.
 */
function refuseUnsendable(what: string, value: string | undefined): void {
  // JavaScript callers can pass an unset environment variable, which would be sent as the text `undefined`.
  if (!value) throw new TypeError(`The ${what} is missing`);
  if (!/^[\x20-\x7e]+$/.test(value))
    throw new TypeError(
      `The ${what} is not valid: it contains characters that no HTTP header can carry, such as a line break`,
    );
}

import createApiClient, { type Client as ApiClient } from 'openapi-fetch';
import type { paths } from './api.js';
import { LiveEvents, type LiveCallbacks } from './live-events.js';
import { printStreamPath, type LiveFilters } from './live-event.js';

/** Which service, and as whom. */
export interface ClientOptions {
  /** Address of the service, for example `http://127.0.0.1:8000`. */
  url: string;
  /** Access token of a user of the service. */
  token: string;
  /** Used in place of the global one. */
  fetch?: typeof fetch | undefined;
}

/** What live events are wanted, and how. */
export interface LiveOptions extends LiveCallbacks {
  /** All events when there is none. */
  filters?: LiveFilters | undefined;
  /** A position: goes on behind it, with what was missed. Without one it begins with what comes from now on. */
  after?: string | undefined;
  /** What this program is called: replays can be meant for the connections of a name. */
  name?: string | undefined;
  /** A connection on which nothing comes for so many milliseconds is taken to be dead [45,000]. */
  silenceMs?: number | undefined;
}

/** A client of the Stream Event Service. */
export interface Client {
  /**
   * Every path of the REST API, typed: `await api.GET('/api/v1/streamers')` gives `{ data, error, response }`. An answer of 4xx
   * or 5xx is an `error`, the problem document; only a network failure is thrown.
   */
  api: ApiClient<paths>;
  /**
   * Events as they come, in order, each once, over any number of connections: `for await (const event of client.live())`.
   *
   * @throws TypeError when `after` cannot be a position
   */
  live(options?: LiveOptions): LiveEvents;
}

// The service says something every 15 s: three times nothing is no accident.
const defaultSilenceMs = 45_000;

/**
 * Makes a client; it connects when it is used.
 *
 * @throws TypeError when the address is no URL, or the token cannot be one
 */
export function createClient({ url, token, fetch = globalThis.fetch }: ClientOptions): Client {
  const baseUrl = new URL(url).href.replace(/\/+$/, '');
  const headers = { Authorization: `Token ${token}` };
  refuseUnsendable('token', token);
  return {
    api: createApiClient<paths>({ baseUrl, headers, fetch }),
    live: ({ filters = {}, name, after, silenceMs = defaultSilenceMs, ...callbacks } = {}) => {
      if (after) refuseUnsendable('position', after);
      const request = { fetch, url: baseUrl + printStreamPath(filters, name), headers, silenceMs };
      return new LiveEvents(request, callbacks, after || undefined);
    },
  };
}

/** What no header can carry is refused at once, not tried for ever; and without saying it: a token is a secret. */
function refuseUnsendable(what: string, value: string | undefined): void {
  // Programs in JavaScript read it from their environment, and `undefined` would be sent as a word.
  if (!value) throw new TypeError(`The ${what} is missing`);
  if (!/^[\x20-\x7e]+$/.test(value))
    throw new TypeError(
      `The ${what} is not valid: it has characters that no header can carry, for example a line break`,
    );
}

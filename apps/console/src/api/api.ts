import { createClient, type Client, type Problem } from '@stream-events/client';
import { sessionStore } from '../session/session.js';
import { ApiError } from './api-error.js';

/** The service serves this page, so both have the same origin. */
const serviceUrl = location.origin;

let current: { key: string; client: Client } | undefined;

/**
 * Returns a client with the session's token. Without a session, only requests to public routes succeed, such as the request to sign in.
 */
export function client(): Client {
  // The client requires a token. Public routes ignore the token.
  const key = sessionStore.get()?.key ?? 'none';
  if (current?.key !== key)
    current = { key, client: createClient({ url: serviceUrl, token: key, fetch: fetchInSession }) };
  return current.client;
}

/** Returns the REST API, typed from its OpenAPI description. Example: `call(api().GET('/api/v1/streamers'))`. */
export function api(): Client['api'] {
  return client().api;
}

/** A response in the form that openapi-fetch returns. */
interface Outcome<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/**
 * Returns the body of a response.
 *
 * @throws ApiError if the service rejects the request or does not respond
 */
export async function call<Data>(request: Promise<Outcome<Data>>): Promise<Exclude<Data, undefined>> {
  const { data, error, response } = await request.catch(() => {
    throw new ApiError(0, undefined, undefined);
  });
  // Safe cast: a successful response has the described body. A 204 has none, and its type is `undefined` too.
  if (response.ok) return data as Exclude<Data, undefined>;
  throw new ApiError(response.status, toProblem(error), response.headers.get('X-Request-Id') ?? undefined);
}

/** A proxy in front of the service can send any body. */
function toProblem(error: unknown): Problem | undefined {
  const isProblem = typeof error === 'object' && error !== null && 'detail' in error;
  return isProblem ? (error as Problem) : undefined; // Safe cast: only problem documents have a detail.
}

/** Ends the session when the service rejects its token. */
const fetchInSession: typeof fetch = async (input, init) => {
  const key = sessionStore.get()?.key;
  const response = await fetch(input, init);
  // Ignore a 401 from the platform: its `WWW-Authenticate` header does not start with `Token`.
  const isRefused = response.status === 401 && response.headers.get('WWW-Authenticate')?.startsWith('Token');
  if (isRefused && sessionStore.get()?.key === key) sessionStore.end();
  return response;
};

import { api } from '../api/api.js';
import { printCallAddress, type CallTarget } from './call-address.js';

/** A platform API call as the user typed it. */
export interface PlatformCall extends CallTarget {
  method: string;
  /** JSON; empty for no body. */
  body: string;
}

/** The reply of the platform, or of the service itself. */
export interface CallReply {
  status: number;
  statusText: string;
  /** Indented if it is JSON. */
  text: string;
  /** Remaining calls in the platform's rate limit; null if the reply does not say. */
  remaining: string | null;
}

export const callMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Sends the call through the service, which holds the tokens. */
export async function sendCall({ method, body, ...target }: PlatformCall): Promise<CallReply> {
  // Safe cast: all methods have the same parameters, and methods without a body ignore it.
  const { data, error, response } = await api().request(
    method.toLowerCase() as 'post',
    '/api/v1/platform/call/{path}',
    {
      params: { path: { path: target.path } },
      // The address has the query. The client would encode the slashes of the path.
      pathSerializer: () => printCallAddress(target),
      // Safe cast: the service validates the body. For undefined, the client sends none.
      body: (body ? JSON.parse(body) : undefined) as Record<string, unknown>,
      parseAs: 'text',
    },
  );
  return {
    status: response.status,
    statusText: response.statusText,
    text: indent(data ?? error ?? ''),
    remaining: response.headers.get('Ratelimit-Remaining'),
  };
}

/** Returns why the text is not a valid request body; undefined if it is valid or empty. */
export function findBodyFault(text: string): string | undefined {
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? undefined : 'Must be a JSON object';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function indent(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

/** A reply and the request's duration. */
export interface JsonReply<Body> {
  status: number;
  body: Body;
  ms: number;
}

export interface JsonRequest {
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}

// Longer than any request's time limit, so only a hanging request reaches it.
const limitMs = 20_000;

/** Sends and receives JSON. If the reply is not JSON, `body` is empty. */
export async function requestJson<Body>(
  method: string,
  url: string,
  { headers = {}, body }: JsonRequest = {},
): Promise<JsonReply<Body>> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    signal: AbortSignal.timeout(limitMs),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const ms = performance.now() - startedAt;
  // The cast holds for successful replies. Callers check the status and the values that they read.
  return { status: response.status, body: parse(text) as Body, ms };
}

/** Returns the body of a 2xx reply. Throws for any other status. */
export function expectSuccess<Body>(what: string, { status, body }: JsonReply<Body>): Body {
  if (status >= 200 && status < 300) return body;
  throw new Error(`${what} failed with status ${status}: ${JSON.stringify(body)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {}; // the reply is not from the service
  }
}

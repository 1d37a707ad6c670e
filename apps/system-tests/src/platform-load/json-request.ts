/** What was answered, and after how long. */
export interface Answer<Body> {
  status: number;
  body: Body;
  ms: number;
}

export interface JsonRequest {
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}

// Longer than anything here may take; a hang must not stop the trial.
const limitMs = 20_000;

/** Sends JSON and reads JSON; what is no JSON is an empty answer of its status. */
export async function requestJson<Body>(
  method: string,
  url: string,
  { headers = {}, body }: JsonRequest = {},
): Promise<Answer<Body>> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    signal: AbortSignal.timeout(limitMs),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const ms = performance.now() - startedAt;
  // Holds as far as the trial compares what it reads, and looks at the status before.
  return { status: response.status, body: parse(text) as Body, ms };
}

/** Throws unless it was a success. */
export function expectSuccess<Body>(what: string, { status, body }: Answer<Body>): Body {
  if (status >= 200 && status < 300) return body;
  throw new Error(`${what} was answered ${status}: ${JSON.stringify(body)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {}; // no answer of the service's own
  }
}

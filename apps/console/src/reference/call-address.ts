/** The parts of a platform API call that are in its address. */
export interface CallTarget {
  /** Relative to the platform API's base URL. */
  path: string;
  /** Without the question mark. */
  query: string;
  /** Connection whose user makes the call. Empty: the service chooses a user or the application. */
  connection: string;
}

/** `.` or `..`, also percent-encoded. */
const dotSegment = /^(\.|%2e){1,2}$/i;

/**
 * Returns the path and query of a call through this service. Encodes each segment, because any member can store a path: a `?` or `\` in a
 * path must not lead to another address.
 */
export function printCallAddress({ path, query, connection }: CallTarget): string {
  const segments = path.replace(/^\/+/, '').split('/');
  const parameters = new URLSearchParams(query);
  if (connection) parameters.set('connection', connection);
  const text = parameters.toString();
  return `/api/v1/platform/call/${segments.map(encodeURIComponent).join('/')}${text && `?${text}`}`;
}

/** Whether browsers would resolve a segment of the path, so that the call would reach another route of this service. */
export function hasDotSegments(path: string): boolean {
  return path.split(/[/\\]/).some((segment) => dotSegment.test(segment));
}

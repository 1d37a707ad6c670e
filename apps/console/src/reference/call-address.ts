/** The parts of a platform API call that are in its address. */
export interface CallTarget {
  /** Relative to the platform API's base URL. */
  path: string;
  /** Without the question mark. */
  query: string;
  /** Connection whose user makes the call. Empty: the service chooses a user or the application. */
  connection: string;
}

/**
 * Returns the path and query of a call through this service. Encodes each segment, because any member can store a path: a `?` or `\` in a
 * path must not lead to another address. The service stores no path with the segments `.` or `..`, which browsers resolve.
 */
export function printCallAddress({ path, query, connection }: CallTarget): string {
  const segments = path.replace(/^\/+/, '').split('/');
  const parameters = new URLSearchParams(query);
  if (connection) parameters.set('connection', connection);
  const text = parameters.toString();
  return `/api/v1/platform/call/${segments.map(encodeURIComponent).join('/')}${text && `?${text}`}`;
}

/**
 * Why the service ended an open stream of live events: the close code of a WebSocket, and `code` in the data of `event: closed`. The client
 * reconnects by itself after `shuttingDown`, `overloaded`, `tooSlow`, and `tooMany`. After the other codes, it throws a `LiveError`,
 * because the next connection would end the same way.
 */
export const closeCodes = {
  /** The service is restarting. */
  shuttingDown: 1012,
  /** Too many connections, or a part of the service is down. */
  overloaded: 1013,
  /** The request is not valid. */
  invalid: 4400,
  /** The token is missing, wrong, or no longer valid. */
  unauthenticated: 4401,
  /** The token does not have the scope `events:live`. */
  forbidden: 4403,
  /** The consumer reads too slowly. */
  tooSlow: 4408,
  /** The user has too many connections. */
  tooMany: 4429,
} as const;

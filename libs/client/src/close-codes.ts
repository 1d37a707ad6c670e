/**
 * Why the service ended an open stream: the WebSocket's close code, or `code` in the data of `event: closed`. The client reconnects after
 * `shuttingDown`, `overloaded`, `tooSlow`, and `tooMany`. After the other codes in this table, it throws a `LiveError`, because the next
 * connection would end in the same way. Exception: after `unauthenticated`, a WebSocket that sent its token too late reconnects.
 */
export const closeCodes = {
  /** The service shuts down or restarts. */
  shuttingDown: 1012,
  /** There are too many connections, or a part of the service is down. */
  overloaded: 1013,
  /** The request is invalid, or the client sends too many messages. */
  invalid: 4400,
  /** The token is missing, wrong, or no longer valid. */
  unauthenticated: 4401,
  /** The token lacks the scope `events:live`. */
  forbidden: 4403,
  /** The client reads too slowly. */
  tooSlow: 4408,
  /** The user has too many connections. */
  tooMany: 4429,
} as const;

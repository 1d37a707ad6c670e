/** Why the platform closes a socket. `text` goes into the close frame; the socket's subscriptions and shards get `status`. */
export interface CloseReason {
  readonly text: string;
  readonly status: SocketStatus;
}

/** Statuses of subscriptions and shards after they have lost their socket (docs/platform-facts.md §1.6, §3). */
export type SocketStatus =
  | 'websocket_disconnected'
  | 'websocket_failed_ping_pong'
  | 'websocket_received_inbound_traffic'
  | 'websocket_connection_unused'
  | 'websocket_internal_error'
  | 'websocket_network_timeout'
  | 'websocket_network_error'
  | 'websocket_failed_to_reconnect';

/** The platform's close codes (docs/platform-facts.md §2). */
export const closeReasons = {
  4000: { text: 'internal server error', status: 'websocket_internal_error' },
  4001: { text: 'sent inbound traffic', status: 'websocket_received_inbound_traffic' },
  4002: { text: 'failed ping pong', status: 'websocket_failed_ping_pong' },
  4003: { text: 'connection unused', status: 'websocket_connection_unused' },
  4004: { text: 'client reconnect grace time expired', status: 'websocket_failed_to_reconnect' },
  4005: { text: 'network timeout', status: 'websocket_network_timeout' },
  4006: { text: 'network error', status: 'websocket_network_error' },
  4007: { text: 'invalid reconnect attempt', status: 'websocket_failed_to_reconnect' },
} as const satisfies Record<number, CloseReason>;

export type CloseCode = keyof typeof closeReasons;

export const closeCodes = Object.keys(closeReasons).map(Number) as CloseCode[]; // Safe cast: the keys are the close codes.

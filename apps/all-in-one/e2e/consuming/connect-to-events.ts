import { connect, type NatsConnection } from '@nats-io/transport-node';

/** Connects to NATS as `subscriber`. The client reconnects whenever the connection breaks. */
export function connectToEvents(servers: string, password: string): Promise<NatsConnection> {
  return connect({
    servers,
    user: 'subscriber',
    pass: password,
    inboxPrefix: '_INBOX_subscriber', // the only replies that this user may receive
    maxReconnectAttempts: -1,
  });
}

import type { NatsConnection } from '@nats-io/transport-node';

/** What to do when a connection is lost and when it is back. */
export interface ConnectionListeners {
  onLost?: () => void;
  onBack?: () => void;
}

/**
 * Knows whether an open NATS connection reaches the broker at the moment. Check `isConnected` before you publish: while
 * the broker is away, the client keeps everything that is published in memory, without a bound, and sends it later.
 */
export class ConnectionWatch {
  private connected = true;

  /** Watches until the connection is closed. */
  constructor(
    private readonly connection: NatsConnection,
    listeners: ConnectionListeners = {},
  ) {
    void this.follow(listeners);
  }

  /** False while the broker is away, and once the connection is being closed. */
  get isConnected(): boolean {
    return this.connected && !this.connection.isDraining() && !this.connection.isClosed();
  }

  private async follow(listeners: ConnectionListeners): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect') {
        this.connected = false;
        listeners.onLost?.();
      } else if (type === 'reconnect') {
        this.connected = true;
        listeners.onBack?.();
      }
    }
  }
}

import type { LoggerService } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';

/** Callbacks for a lost connection, a restored connection, and an error that the broker reports. */
export interface ConnectionListeners {
  onLost?: () => void;
  onBack?: () => void;
  /** The broker reports an error: for example, it refuses a subject to this user. */
  onError?: (error: Error) => void;
}

/**
 * Tracks whether a NATS connection currently reaches the broker. Check `isConnected` before you publish: while the broker is
 * away, the client buffers published messages in memory, without a limit, and sends them later.
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
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') {
        this.connected = false;
        listeners.onLost?.();
      } else if (status.type === 'reconnect') {
        this.connected = true;
        listeners.onBack?.();
      } else if (status.type === 'error') {
        listeners.onError?.(status.error);
      }
    }
  }
}

/** Watches a connection and logs its losses and the errors that the broker reports. */
export function logConnection(connection: NatsConnection, logger: LoggerService): ConnectionWatch {
  return new ConnectionWatch(connection, {
    onLost: () => {
      logger.warn('lost the connection to NATS, reconnecting');
    },
    onBack: () => {
      logger.warn('reconnected to NATS');
    },
    onError: (error) => {
      logger.error(error);
    },
  });
}

import { Logger, type LoggerService } from '@nestjs/common';
import type { NatsConnection, Status } from '@nats-io/transport-node';

/** Callbacks for a lost connection, a restored connection, and an error that the broker reports. */
export interface ConnectionListeners {
  onLost?: () => void;
  onBack?: () => void;
  /**
   * Called when the broker reports an error, for example because this user has no permission for a subject. `ConnectionWatch` also logs the
   * error.
   */
  onError?: (error: Error) => void;
}

// The broker reports a refused subject for each message, so limit the number of log lines.
const errorIntervalMs = 1_000;

/**
 * Tracks whether a NATS connection currently reaches the broker, and logs the errors that the broker reports, at most one line
 * per second. Check `isConnected` before you publish: while the broker is away, the client buffers published messages in
 * memory, without a limit, and drops them at its next attempt to connect.
 */
export class ConnectionWatch {
  private connected = true;
  private lastErrorAt = Number.NEGATIVE_INFINITY;

  /** Watches until the connection is closed. */
  constructor(
    private readonly connection: NatsConnection,
    private readonly listeners: ConnectionListeners = {},
    private readonly logger: LoggerService = new Logger(ConnectionWatch.name),
  ) {
    void this.follow();
    // `rtt` fails immediately when the connection is already lost. `status` reports only later changes.
    connection.rtt().catch(() => (this.connected = false));
  }

  /** False while the broker is away, and as soon as the connection begins to close. */
  get isConnected(): boolean {
    return this.connected && !this.connection.isDraining() && !this.connection.isClosed();
  }

  private async follow(): Promise<void> {
    for await (const status of this.connection.status()) {
      try {
        this.onStatus(status);
      } catch (error) {
        this.logger.error(error); // a listener failed; the next status must still be read
      }
    }
  }

  private onStatus(status: Status): void {
    if (status.type === 'disconnect') {
      this.connected = false;
      this.listeners.onLost?.();
    } else if (status.type === 'reconnect') {
      this.connected = true;
      this.listeners.onBack?.();
    } else if (status.type === 'error') {
      this.logError(status.error);
      this.listeners.onError?.(status.error);
    }
  }

  private logError(error: Error): void {
    const now = performance.now();
    if (now < this.lastErrorAt + errorIntervalMs) return;
    this.lastErrorAt = now;
    this.logger.error(error);
  }
}

/** Watches a connection and logs its losses and the errors that the broker reports. */
export function logConnection(connection: NatsConnection, logger: LoggerService): ConnectionWatch {
  const listeners = {
    onLost: () => {
      logger.warn('lost the connection to NATS, reconnecting');
    },
    onBack: () => {
      logger.warn('reconnected to NATS');
    },
  };
  return new ConnectionWatch(connection, listeners, logger);
}

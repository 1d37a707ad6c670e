import { Logger, type LoggerService } from '@nestjs/common';
import type { NatsConnection, Status } from '@nats-io/transport-node';

/** Callbacks for changes of the connection, and for errors that the broker reports. */
export interface ConnectionListeners {
  onLost?: () => void;
  onBack?: () => void;
  /**
   * Called when the broker reports an error, for example because this user may not use a subject. `ConnectionWatch` also logs the error.
   */
  onError?: (error: Error) => void;
}

// Minimum time between two log lines: the broker reports a refused subject for each message.
const errorIntervalMs = 1_000;

/**
 * Tracks whether a NATS connection reaches the broker, and logs the broker's errors, at most one per second. Check `isConnected` before you
 * publish: while the broker is away, the client buffers messages in memory without limit, and drops them when it next tries to connect.
 */
export class ConnectionWatch {
  private connected = true;
  private lastErrorAt = Number.NEGATIVE_INFINITY;

  /** The watch ends when the connection is closed. */
  constructor(
    private readonly connection: NatsConnection,
    private readonly listeners: ConnectionListeners = {},
    private readonly logger: LoggerService = new Logger(ConnectionWatch.name),
  ) {
    void this.follow();
    // `status` reports only later changes, while `rtt` fails at once if the connection is already lost.
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
        this.logger.error(error); // a listener failed; keep reading the status
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

/** Watches a connection, and logs losses and the broker's errors. */
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

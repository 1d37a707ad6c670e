import {
  liveUsageSubject,
  parseLiveUsage,
  printLiveUsage,
  type LiveUsageMessage,
} from '@stream-events/contracts';
import { closeNats, connectNats, ConnectionWatch, type NatsOptions } from '@stream-events/messaging';
import { FailureLog, within, type Logger } from '@stream-events/service';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { UsageBoard } from './usage-board.js';

// A gateway that was silent for four times as long counts as gone.
const announcementMs = 1_000;
const flushLimitMs = 2_000;

/**
 * Exchanges what users hold open between gateways, on core NATS: changes immediately, and everything once a second. While NATS is
 * unavailable, each gateway applies the limits on its own.
 */
export class UsageChannel {
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isAnnouncing = false;
  private readonly failures: FailureLog;

  constructor(
    private readonly options: NatsOptions,
    private readonly board: UsageBoard,
    logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  /** Connects, and exchanges announcements from now on. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    this.watch = new ConnectionWatch(this.connection);
    this.connection.subscribe(liveUsageSubject, {
      callback: (error, message) => {
        if (error) this.failures.warn('cannot receive the live usage of other gateways', { err: error });
        else this.take(message);
      },
    });
    // If NATS is away now, the client subscribes when it reconnects.
    await within(flushLimitMs, this.connection.flush());
    this.board.onAnnounce(() => this.announceSoon());
    this.timer = setInterval(() => {
      this.board.expire();
      this.publish(this.board.takeMessages(true));
    }, announcementMs);
  }

  /** Announces that this gateway leaves, so that clients can connect to another one at once. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.publish(this.board.takeMessages(false));
    this.publish(this.board.farewell());
    if (this.connection) await closeNats(this.connection);
  }

  /** Announces all changes of this turn of the event loop together. */
  private announceSoon(): void {
    if (this.isAnnouncing) return;
    this.isAnnouncing = true;
    setImmediate(() => {
      this.isAnnouncing = false;
      this.publish(this.board.takeMessages(false));
    });
  }

  private publish(messages: readonly LiveUsageMessage[]): void {
    // Without a connection, the NATS client would buffer everything. The next announcement has everything again.
    if (!this.connection || !this.watch?.isConnected) return;
    for (const message of messages) this.connection.publish(liveUsageSubject, printLiveUsage(message));
  }

  /** Ignores other messages: an error thrown here would break the connection permanently. */
  private take(message: Msg): void {
    const usage = parseLiveUsage(message.string());
    if (usage) this.board.learn(usage);
    else this.failures.warn('ignoring an invalid report of live usage', { subject: message.subject });
  }
}

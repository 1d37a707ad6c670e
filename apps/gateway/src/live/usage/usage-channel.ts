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

// How often a gateway announces its usage. After four missed announcements, the other gateways treat it as gone.
const announcementMs = 1_000;
const flushLimitMs = 2_000;

/**
 * Shares each user's live usage between gateways over core NATS. Announces changes immediately, and the full usage once a second. While
 * NATS is unavailable, each gateway applies the limits to its own connections only.
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

  /** Connects to NATS and starts to exchange announcements. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    this.watch = new ConnectionWatch(this.connection);
    this.connection.subscribe(liveUsageSubject, {
      callback: (error, message) => {
        if (error)
          this.failures.warn(
            'cannot receive the live usage of other gateways. Check the NATS permissions of the gateway, then restart the gateway',
            { err: error },
          );
        else this.take(message);
      },
    });
    // If NATS is unavailable now, the NATS client subscribes when it reconnects.
    await within(flushLimitMs, this.connection.flush());
    this.board.onAnnounce(() => this.announceSoon());
    this.timer = setInterval(() => {
      this.board.expire();
      this.publish(this.board.takeMessages(true));
    }, announcementMs);
  }

  /** Announces zero usage, so that this gateway's clients can reconnect to another gateway at once. Then disconnects from NATS. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.publish(this.board.takeMessages(false));
    this.publish(this.board.farewell());
    if (this.connection) await closeNats(this.connection);
  }

  /** Announces all changes of an event-loop turn together. */
  private announceSoon(): void {
    if (this.isAnnouncing) return;
    this.isAnnouncing = true;
    setImmediate(() => {
      this.isAnnouncing = false;
      this.publish(this.board.takeMessages(false));
    });
  }

  private publish(messages: readonly LiveUsageMessage[]): void {
    // Drop messages while disconnected: the NATS client would buffer them all, and the next full announcement replaces them.
    if (!this.connection || !this.watch?.isConnected) return;
    for (const message of messages) this.connection.publish(liveUsageSubject, printLiveUsage(message));
  }

  /** Records an announcement. Ignores invalid messages, because an error thrown here would break the connection permanently. */
  private take(message: Msg): void {
    const usage = parseLiveUsage(message.string());
    if (usage) this.board.learn(usage);
    else this.failures.warn('ignoring an invalid report of live usage', { subject: message.subject });
  }
}

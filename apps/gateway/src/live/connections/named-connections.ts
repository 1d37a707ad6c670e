import { createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node';
import {
  instanceReportMs,
  namedConnectionsSubject,
  parseTargetMessage,
  parseTargetReply,
  printTargetMessage,
  ServiceError,
  type LiveTargetMessage,
  type LiveTargetReply,
  type SentRecord,
} from '@stream-events/contracts';
import {
  closeNats,
  connectNats,
  ConnectionWatch,
  natsConnectionOptions,
  type NatsOptions,
} from '@stream-events/messaging';
import { FailureLog, within, type Logger } from '@stream-events/service';
import { LiveEvent } from '../stream/live-event.js';
import { stallLimitMs } from '../live-limits.js';
import type { LiveConnections } from './live-connections.service.js';

const flushLimitMs = 2_000;
// How long the sender waits for replies. A gateway that gets records replies when each client has read all earlier data, or has read
// nothing for `stallLimitMs`.
const replyLimitMs = stallLimitMs + 2_000;
// How often the sender checks whether it still needs to wait. A gateway that has died never replies. Senders wait for it, up to their limits,
// until its last report is 15 s old.
const recheckMs = 250;
// A gateway that has started less than one report ago does not know all others. Its senders wait this long for replies of unknown gateways.
const unknownLimitMs = 1_000;

/** The gateways that reply to messages. */
export interface GatewayFleet {
  /** The id of this gateway's instance. */
  id: string;
  /** Returns the ids of the gateways whose reports are not overdue. */
  list(): readonly string[];
}

/**
 * Sends messages over core NATS to a user's live connections with a given name, at all gateways:
 *
 * ```
 *  sender ──▶ live.connections ──▶ every gateway ──▶ its connections of the user with the name
 *    ▲                                  │ once each client has read all earlier data
 *    └──── number of connections ───────┘
 * ```
 *
 * A sender that waits for the replies goes at the pace of the slowest client. A gateway without such connections replies at once, and every
 * gateway does so to controls.
 */
export class NamedConnections {
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  private fleet: GatewayFleet | undefined;
  private readonly inbox: string;
  private sent = 0;
  private knowsFleetAt = Infinity;
  private readonly pending = new Map<string, (reply: LiveTargetReply) => void>();
  private readonly failures: FailureLog;

  constructor(
    private readonly options: NatsOptions,
    private readonly live: Pick<LiveConnections, 'rehearse' | 'control'>,
    logger: Logger,
  ) {
    this.inbox = createInbox(natsConnectionOptions(options).inboxPrefix);
    this.failures = new FailureLog(logger);
  }

  /** Connects to NATS and starts to deliver messages from all gateways to this gateway's connections. */
  async connect(fleet: GatewayFleet): Promise<void> {
    this.fleet = fleet;
    this.knowsFleetAt = performance.now() + instanceReportMs + unknownLimitMs;
    this.connection = await connectNats(this.options);
    this.watch = new ConnectionWatch(this.connection);
    this.connection.subscribe(namedConnectionsSubject, {
      callback: (err, message) => {
        if (err)
          this.failures.warn(
            'cannot receive messages for named connections. Check the NATS permissions of the gateway, then restart the gateway',
            { err },
          );
        else this.take(message, fleet.id).catch((error: unknown) => this.logIgnored(error));
      },
    });
    this.connection.subscribe(`${this.inbox}.*`, {
      callback: (err, message) => {
        const reply = err ? undefined : parseTargetReply(message.string());
        if (reply) this.pending.get(message.subject)?.(reply);
      },
    });
    // If NATS is unavailable now, the NATS client subscribes when it reconnects.
    await within(flushLimitMs, this.connection.flush());
  }

  async close(): Promise<void> {
    if (this.connection) await closeNats(this.connection);
  }

  /**
   * Sends records or a control. Waits up to `limitMs` (12 s by default) for a reply from every gateway. Returns how many connections
   * took the message, according to the replies. A message with neither records nor a control only counts the connections.
   *
   * @throws ServiceError `unavailable` while NATS is unavailable; InvalidArgumentError if the message exceeds the maximum NATS payload
   */
  async send(message: LiveTargetMessage, limitMs = replyLimitMs): Promise<number> {
    const { connection, fleet } = this;
    // While disconnected, the NATS client would buffer messages in memory without limit.
    if (!connection || !fleet || !this.watch?.isConnected)
      throw new ServiceError('unavailable', 'NATS is unavailable. Retry after the time in `Retry-After`.');
    const replies = new Map<string, number>();
    const reply = `${this.inbox}.${(this.sent += 1)}`;
    let wake: () => void = () => undefined;
    this.pending.set(reply, ({ gateway, connections }) => {
      replies.set(gateway, connections);
      wake();
    });
    try {
      connection.publish(namedConnectionsSubject, printTargetMessage(message), { reply });
      const sentAt = performance.now();
      const earliest = sentAt < this.knowsFleetAt ? sentAt + unknownLimitMs : sentAt;
      // Just after the start, the list does not include this gateway yet.
      const haveAllReplied = (): boolean =>
        performance.now() >= earliest && [fleet.id, ...fleet.list()].every((gateway) => replies.has(gateway));
      const deadline = sentAt + limitMs;
      while (!haveAllReplied() && performance.now() < deadline)
        await within(recheckMs, new Promise<void>((resolve) => (wake = resolve)));
      return [...replies.values()].reduce((sum, count) => sum + count, 0);
    } finally {
      this.pending.delete(reply);
    }
  }

  private async take(message: Msg, gateway: string): Promise<void> {
    const content = parseTargetMessage(message.string());
    if (!content) throw new Error('the message cannot be read');
    const { target, records, control } = content;
    const connections = control
      ? this.live.control(target, control)
      : await this.live.rehearse(target, records.map(toLiveEvent));
    const reply: LiveTargetReply = { gateway, connections };
    if (this.watch?.isConnected) message.respond(JSON.stringify(reply));
  }

  private logIgnored(err: unknown): void {
    this.failures.warn('cannot deliver a message to named connections, ignoring it', { err });
  }
}

function toLiveEvent({ id, record }: SentRecord): LiveEvent {
  return new LiveEvent(id, Buffer.from(record), '', 0);
}

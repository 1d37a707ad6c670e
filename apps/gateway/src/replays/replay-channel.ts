import {
  connectionNameHeader,
  printReplayedEventRecord,
  readEventColumns,
  replaySubject,
  replaySubjects,
  ServiceError,
  type StoredEvent,
} from '@stream-events/contracts';
import { closeNats, connectNats, ConnectionWatch, within, type NatsOptions } from '@stream-events/messaging';
import { CircuitBreaker, FailureLog, type Logger } from '@stream-events/service';
import { deadline, headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { LiveEvent } from '../live/stream/live-event.js';

/** Gets events that go out again: for all live connections, or for those of a name. */
export type ReplayListener = (event: LiveEvent, connectionName: string | undefined) => void;

interface ReplayMessage {
  subject: string;
  payload: Buffer;
  headers: MsgHdrs;
}

// An owner who replays one event waits for it.
const flushLimitMs = 2_000;
// What a broker that is slow may hold in this process's memory: a page of each range that can run, and single events.
const maxPendingBytes = 16 * 1024 ** 2;
// A broker that does not answer is asked once in a while only: what it is sent stays in memory until the connection is
// given up.
const restMs = 1_000;

/** Replays between gateways, on core NATS: what one sends, all deliver to their clients. Nothing keeps it. */
export class ReplayChannel {
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  private pendingBytes = 0;
  private readonly failures: FailureLog;
  private readonly circuit = new CircuitBreaker({ restMs: () => restMs, now: () => performance.now() });

  constructor(
    private readonly options: NatsOptions,
    private readonly logger: Logger,
    private readonly limitMs = flushLimitMs,
  ) {
    this.failures = new FailureLog(logger);
  }

  /** Connects, and hands over everything that any gateway replays from now on. */
  async connect(listener: ReplayListener): Promise<void> {
    this.connection = await connectNats(this.options);
    this.watch = new ConnectionWatch(this.connection);
    this.connection.subscribe(replaySubjects, {
      callback: (error, message) => {
        if (error) this.logger.error({ err: error }, 'NATS lets this gateway deliver no replays');
        else this.hand(message, listener);
      },
    });
    // Only then does the broker know of it; one that is away by now hears of it when it is back.
    await within(this.limitMs, this.connection.flush());
  }

  async close(): Promise<void> {
    if (this.connection) await closeNats(this.connection);
  }

  /**
   * Sends events, in this order, to all live connections, or to those of a name. When this returns, the broker has them.
   *
   * @throws ServiceError `unavailable` when NATS is away, or has not said within 2 s that it has them, which leaves that in
   * doubt; InvalidArgumentError for an event that is larger than the broker takes
   */
  async publish(events: readonly StoredEvent[], connectionName: string | null): Promise<void> {
    const { connection } = this;
    // The client would keep what is published now until NATS is back, without bound.
    if (!connection || !this.watch?.isConnected || !this.circuit.permits) throw natsIsAway();
    const messages = events.map((event) => toMessage(event, connectionName));
    const bytes = messages.reduce((sum, { payload }) => sum + payload.length, 0);
    if (this.pendingBytes + bytes > maxPendingBytes) throw natsIsAway();
    for (const { subject, payload, headers } of messages) connection.publish(subject, payload, { headers });
    const begunAt = this.circuit.begin();
    this.pendingBytes += bytes;
    try {
      await deadline(connection.flush(), this.limitMs);
      this.circuit.succeed();
    } catch (error) {
      this.circuit.fail(begunAt);
      throw natsIsAway(error);
    } finally {
      this.pendingBytes -= bytes;
    }
  }

  /** Hands a replay over; what is none is passed over: an error here would leave the connection dead for good. */
  private hand(message: Msg, listener: ReplayListener): void {
    try {
      listener(...readMessage(message));
    } catch (err) {
      this.failures.warn('a message that is no replay was passed over', { err, subject: message.subject });
    }
  }
}

function natsIsAway(cause?: unknown): ServiceError {
  return new ServiceError('unavailable', 'NATS is not available. Try again soon.', { cause });
}

function toMessage(event: StoredEvent, connectionName: string | null): ReplayMessage {
  const { broadcasterUserId } = readEventColumns(event.eventType, event.eventData);
  const messageHeaders = headers();
  messageHeaders.set('Nats-Msg-Id', event.id);
  // A header would lose spaces at the ends, and holds no line breaks.
  if (connectionName !== null) messageHeaders.set(connectionNameHeader, encodeURIComponent(connectionName));
  return {
    subject: replaySubject(event.eventType, broadcasterUserId),
    payload: Buffer.from(printReplayedEventRecord(event)),
    headers: messageHeaders,
  };
}

function readMessage({ headers: given, data }: Msg): Parameters<ReplayListener> {
  const id = given?.get('Nats-Msg-Id');
  if (!id) throw new Error('the message has no Nats-Msg-Id');
  const name = given?.get(connectionNameHeader);
  // The network's buffer is not copied: an event that goes out again is not kept.
  const record = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return [new LiveEvent(id, record, '', 0), name ? decodeURIComponent(name) : undefined];
}

import {
  connectionNameHeader,
  printReplayedEventRecord,
  readEventColumns,
  replaySubject,
  replaySubjects,
  ServiceError,
  subjectChannel,
  type StoredEvent,
} from '@stream-events/contracts';
import { closeNats, connectNats, ConnectionWatch, type NatsOptions } from '@stream-events/messaging';
import { CircuitBreaker, FailureLog, within, type Logger } from '@stream-events/service';
import { deadline, headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { LiveEvent } from '../live/stream/live-event.js';

/** Handles a replayed event. An undefined `connectionName` means a replay to all live connections. */
export type ReplayListener = (event: LiveEvent, connectionName: string | undefined) => void;

interface ReplayMessage {
  subject: string;
  payload: Buffer;
  headers: MsgHdrs;
}

// How long to wait until NATS confirms the events. Short, because a client that replays a single event waits for the confirmation.
const flushLimitMs = 2_000;
// Maximum bytes of replays that NATS has not confirmed. Enough for one page per running replay, and for single events.
const maxPendingBytes = 16 * 1024 ** 2;
// How often to try while NATS does not respond. The messages of each attempt stay in memory until the connection is closed.
const restMs = 1_000;

/** Sends replays to all gateways over core NATS. Every gateway delivers the replays to its clients. Replays are not stored. */
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

  /** Connects to NATS and starts passing the replays from all gateways to the listener. */
  async connect(listener: ReplayListener): Promise<void> {
    this.connection = await connectNats(this.options);
    this.watch = new ConnectionWatch(this.connection);
    this.connection.subscribe(replaySubjects, {
      callback: (error, message) => {
        if (error)
          this.logger.error(
            { err: error },
            'cannot receive replays from NATS. Check the NATS permissions of the gateway, then restart the gateway',
          );
        else this.hand(message, listener);
      },
    });
    // After the flush, the subscription is active. If NATS is unavailable now, the client subscribes when it reconnects.
    await within(this.limitMs, this.connection.flush());
  }

  async close(): Promise<void> {
    if (this.connection) await closeNats(this.connection);
  }

  /**
   * Sends events, in this order, to the live connections named `connectionName`, or to all live connections if it is null. Resolves when
   * NATS has received the events.
   *
   * @throws ServiceError `unavailable` if NATS is unavailable, if too many bytes are unconfirmed, or if NATS does not confirm the events
   * within 2 s. In the last case, NATS may have received them. InvalidArgumentError for an event larger than the maximum payload of NATS
   */
  async publish(events: readonly StoredEvent[], connectionName: string | null): Promise<void> {
    const { connection } = this;
    // While disconnected, the NATS client would buffer every message in memory, without a limit.
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

  /** Passes a replay to the listener. Ignores invalid messages, because an error thrown here would break the connection permanently. */
  private hand(message: Msg, listener: ReplayListener): void {
    try {
      listener(...readMessage(message));
    } catch (err) {
      this.failures.warn('ignoring an invalid replay message', { err, subject: message.subject });
    }
  }
}

function natsIsAway(cause?: unknown): ServiceError {
  return new ServiceError('unavailable', 'NATS is unavailable. Retry after the time in `Retry-After`.', {
    cause,
  });
}

function toMessage(event: StoredEvent, connectionName: string | null): ReplayMessage {
  const channelId = subjectChannel(readEventColumns(event.eventType, event.eventData));
  const messageHeaders = headers();
  messageHeaders.set('Nats-Msg-Id', event.id);
  // Encode the name, because a header loses leading and trailing spaces and cannot contain line breaks.
  if (connectionName !== null) messageHeaders.set(connectionNameHeader, encodeURIComponent(connectionName));
  return {
    subject: replaySubject(event.eventType, channelId),
    payload: Buffer.from(printReplayedEventRecord(event)),
    headers: messageHeaders,
  };
}

function readMessage({ headers: given, data }: Msg): Parameters<ReplayListener> {
  const id = given?.get('Nats-Msg-Id');
  if (!id) throw new Error('the message has no Nats-Msg-Id');
  const name = given?.get(connectionNameHeader);
  // No copy of the network buffer is needed, because nothing keeps the replay.
  const record = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return [new LiveEvent(id, record, '', 0), name ? decodeURIComponent(name) : undefined];
}

import { createHash } from 'node:crypto';
import { ingestSubject, printIngestMessage, type NewEvent } from '@stream-events/contracts';
import {
  AcknowledgementTimeoutError,
  closeNats,
  connectNats,
  ConnectionWatch,
  natsConnectionOptions,
  StreamPublisher,
  type NatsOptions,
} from '@stream-events/messaging';
import { CircuitBreaker, within } from '@stream-events/service';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';

// How long to wait for an acknowledgement. The platform gives up after a few seconds, and the request may already have spent a part of this
// time waiting for the events service.
const acknowledgementTimeoutMs = 2_000;
// Limits the memory that unacknowledged messages use when the broker is slow.
const maxPendingBytes = 32 * 1024 * 1024;
// While the broker does not reply, publish one probe per second and reject all other messages. Otherwise, the messages would stay in memory
// until the connection is closed, and their senders would wait for the timeout.
const restMs = 1_000;
// How long `close` waits for acknowledgements. A working stream acknowledges within milliseconds.
const closeLimitMs = 1_000;

/** Publishes events to the INGEST stream. */
export class IngestPublisher {
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  private stream: StreamPublisher | undefined;
  private pendingBytes = 0;
  private readonly inFlight = new Set<Promise<number>>();
  private readonly circuit = new CircuitBreaker({ restMs: () => restMs, now: () => performance.now() });

  constructor(private readonly options: NatsOptions) {}

  /** Connects. The service does not start without this connection. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    const { inboxPrefix } = natsConnectionOptions(this.options);
    const stream = new StreamPublisher(this.connection, { inboxPrefix, timeoutMs: acknowledgementTimeoutMs });
    this.stream = stream;
    this.watch = new ConnectionWatch(this.connection, {
      // When this user has no permission to publish a message, the broker drops the message and sends no acknowledgement.
      onError: (error) => {
        if (error instanceof PermissionViolationError) stream.abandon(error.message);
      },
    });
  }

  /**
   * Waits up to 1 s for the acknowledgements of messages in flight, closes the connection, and fails the messages that are still
   * unacknowledged.
   */
  async close(): Promise<void> {
    await within(closeLimitMs, Promise.allSettled(this.inFlight));
    if (this.connection) await closeNats(this.connection);
    this.stream?.close();
  }

  /**
   * Publishes an event. When this returns, the event is on the stream. The stream deduplicates by the platform's message id. A
   * redelivered message is therefore on the stream only once, although each delivery gets its own event id.
   *
   * @throws Error that says why the stream did not store the event, or (after 2 s) that it is unknown whether the event was stored
   */
  async publish(event: NewEvent): Promise<void> {
    // Without this check, the client would buffer published messages without a limit until NATS is back.
    if (!this.stream || !this.watch?.isConnected) throw new Error('NATS is not connected');
    if (!this.circuit.permits) throw new Error('NATS does not reply');
    const payload = Buffer.from(printIngestMessage(event));
    if (this.pendingBytes + payload.length > maxPendingBytes)
      throw new Error('NATS is too slow: 32 MiB of messages wait for an acknowledgement');
    this.pendingBytes += payload.length;
    const begunAt = this.circuit.begin();
    const acknowledged = this.stream.publish([
      { subject: ingestSubject, messageId: messageIdOf(event), payload },
    ]);
    this.inFlight.add(acknowledged);
    try {
      await acknowledged;
      this.circuit.succeed();
    } catch (error) {
      if (error instanceof AcknowledgementTimeoutError) this.circuit.fail(begunAt);
      else this.circuit.succeed(); // rejected immediately, by the broker or the client
      throw error;
    } finally {
      this.inFlight.delete(acknowledged);
      this.pendingBytes -= payload.length;
    }
  }
}

/** Returns a hash, because the platform's message id can contain characters that are invalid in a header. */
function messageIdOf({ id, eventId }: NewEvent): string {
  return createHash('sha256')
    .update(eventId ?? id)
    .digest('hex');
}

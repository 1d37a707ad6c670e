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

// How long to wait for an acknowledgement. The platform gives up on a request after a few seconds, and part of that time may be spent on
// the attempt to store the event.
const acknowledgementTimeoutMs = 2_000;
// Maximum size of all unacknowledged messages. They use this much memory when the broker is slow.
const maxPendingBytes = 32 * 1024 * 1024;
// How long the circuit rests after a timeout. Until the broker replies again, one probe per second is published, and all other messages are
// rejected. Without the circuit, their senders would wait for the timeout.
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

  /** Connects to NATS. The service does not start without this connection. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    const { inboxPrefix } = natsConnectionOptions(this.options);
    const stream = new StreamPublisher(this.connection, { inboxPrefix, timeoutMs: acknowledgementTimeoutMs });
    this.stream = stream;
    this.watch = new ConnectionWatch(this.connection, {
      // When this user lacks permission to publish, the broker drops the message and sends no acknowledgement. Do not wait for the timeout.
      onError: (error) => {
        if (error instanceof PermissionViolationError) stream.abandon(error.message);
      },
    });
  }

  /** Waits up to 1 s for outstanding acknowledgements, then closes the connection. Messages that are still unacknowledged fail. */
  async close(): Promise<void> {
    await within(closeLimitMs, Promise.allSettled(this.inFlight));
    if (this.connection) await closeNats(this.connection);
    this.stream?.close();
  }

  /**
   * Publishes an event. When this returns, the event is on the stream. Within two minutes, the stream deduplicates by the platform's
   * message id, because each redelivery gets its own event id. The event store recognizes later redeliveries.
   *
   * @throws Error that says why the stream did not store the event. After a timeout of 2 s, the event may have been stored
   */
  async publish(event: NewEvent): Promise<void> {
    // Without this check, the NATS client would buffer messages without limit until it reconnects.
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
      else this.circuit.succeed(); // not a timeout: the broker or the client rejected it at once
      throw error;
    } finally {
      this.inFlight.delete(acknowledged);
      this.pendingBytes -= payload.length;
    }
  }
}

/** Hashes the platform's message id (or the event's id), because a message id can contain characters that are invalid in a header. */
function messageIdOf({ id, eventId }: NewEvent): string {
  return createHash('sha256')
    .update(eventId ?? id)
    .digest('hex');
}

import { createHash } from 'node:crypto';
import { ingestSubject, isJsonObject, printIngestMessage, type NewEvent } from '@stream-events/contracts';
import { closeNats, connectNats, type NatsOptions } from '@stream-events/messaging';
import { CircuitBreaker } from '@stream-events/service';
import { headers, TimeoutError, type Msg, type NatsConnection } from '@nats-io/transport-node';

// The platform gives up after a few seconds, and may have waited for the events service before.
const acknowledgementTimeoutMs = 2_000;
// Limits the memory that unacknowledged messages take when the broker is slow.
const maxPendingBytes = 32 * 1024 * 1024;
// A broker that does not reply gets one probe per second: what is published meanwhile stays in memory until the connection
// is given up, and every caller would wait in vain.
const restMs = 1_000;

/** Publishes events to the INGEST stream. */
export class IngestPublisher {
  private connection: NatsConnection | undefined;
  private isConnected = false;
  private pendingBytes = 0;
  private readonly circuit = new CircuitBreaker({ restMs: () => restMs, now: () => performance.now() });

  constructor(private readonly options: NatsOptions) {}

  /** Connects. The service does not start without this connection. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    this.isConnected = true;
    void this.watch(this.connection);
  }

  async close(): Promise<void> {
    if (this.connection) await closeNats(this.connection);
  }

  /**
   * Publishes an event. When this returns, the event is on the stream. The stream deduplicates by the platform's message
   * id: a message that the platform redelivers is on the stream once, although each delivery gets its own event id.
   *
   * @throws Error that says why the stream did not take the event, or (after 2 s) that it is unknown whether it did
   */
  async publish(event: NewEvent): Promise<void> {
    // The client would buffer published messages until NATS is back, without a limit.
    if (!this.connection || !this.isConnected) throw new Error('NATS is not connected');
    if (!this.circuit.permits) throw new Error('NATS does not reply');
    const payload = Buffer.from(printIngestMessage(event));
    if (this.pendingBytes + payload.length > maxPendingBytes)
      throw new Error('NATS is too slow: 32 MiB of messages wait for an acknowledgement');
    this.pendingBytes += payload.length;
    try {
      const reply = await this.request(this.connection, event, payload);
      expectAcknowledgement(reply.json());
    } finally {
      this.pendingBytes -= payload.length;
    }
  }

  private async request(connection: NatsConnection, event: NewEvent, payload: Uint8Array): Promise<Msg> {
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', messageIdOf(event));
    const begunAt = this.circuit.begin();
    try {
      const options = { timeout: acknowledgementTimeoutMs, headers: messageHeaders };
      const reply = await connection.request(ingestSubject, payload, options);
      this.circuit.succeed();
      return reply;
    } catch (error) {
      if (error instanceof TimeoutError) this.circuit.fail(begunAt);
      else this.circuit.succeed(); // rejected immediately, by the broker or the client
      throw error;
    }
  }

  private async watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.isConnected = false;
      if (type === 'reconnect') this.isConnected = true;
    }
  }
}

/** A hash, because the platform's message id may contain characters that a header cannot hold. */
function messageIdOf({ id, eventId }: NewEvent): string {
  return createHash('sha256')
    .update(eventId ?? id)
    .digest('hex');
}

/** `{"stream":"INGEST","seq":7}`, or `{"error":{"description":"maximum bytes exceeded"}}`. */
function expectAcknowledgement(reply: unknown): void {
  if (!isJsonObject(reply)) throw new Error('the stream sent no acknowledgement');
  const { error, seq } = reply;
  if (isJsonObject(error)) throw new Error(`the stream rejected the message: ${String(error.description)}`);
  if (typeof seq !== 'number') throw new Error('the stream sent no acknowledgement');
}

import { createHash } from 'node:crypto';
import { ingestSubject, isJsonObject, printIngestMessage, type NewEvent } from '@stream-events/contracts';
import { closeNats, connectNats, type NatsOptions } from '@stream-events/messaging';
import { CircuitBreaker } from '@stream-events/service';
import { headers, TimeoutError, type Msg, type NatsConnection } from '@nats-io/transport-node';

// The platform gives up after a few seconds, and may have waited for the events service before.
const acknowledgementLimitMs = 2_000;
// What a broker that is slow may hold in this process's memory.
const maxPendingBytes = 32 * 1024 * 1024;
// A broker that does not answer is asked once in a while only: what it is sent stays in memory until the connection is
// given up, and everybody would wait in vain.
const restMs = 1_000;

/** Publishes to the INGEST stream. */
export class IngestPublisher {
  private connection: NatsConnection | undefined;
  private isConnected = false;
  private pendingBytes = 0;
  private readonly circuit = new CircuitBreaker({ restMs: () => restMs, now: () => performance.now() });

  constructor(private readonly options: NatsOptions) {}

  /** Connects; the service does not start without. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    this.isConnected = true;
    void this.watch(this.connection);
  }

  async close(): Promise<void> {
    if (this.connection) await closeNats(this.connection);
  }

  /**
   * Publishes an event; when this returns, the stream has it. The same message of the platform, delivered again, is one
   * message while the stream remembers it, whatever id the event was given.
   *
   * @throws Error that says why the stream has not taken it, or (after 2 s) that this is in doubt
   */
  async publish(event: NewEvent): Promise<void> {
    // The client would keep what is published now until NATS is back, without bound.
    if (!this.connection || !this.isConnected) throw new Error('NATS is away');
    if (!this.circuit.permits) throw new Error('NATS does not answer');
    const payload = Buffer.from(printIngestMessage(event));
    if (this.pendingBytes + payload.length > maxPendingBytes) throw new Error('NATS is too slow');
    this.pendingBytes += payload.length;
    try {
      const answer = await this.request(this.connection, event, payload);
      expectAcknowledgement(answer.json());
    } finally {
      this.pendingBytes -= payload.length;
    }
  }

  private async request(connection: NatsConnection, event: NewEvent, payload: Uint8Array): Promise<Msg> {
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', messageIdOf(event));
    const begunAt = this.circuit.begin();
    try {
      const options = { timeout: acknowledgementLimitMs, headers: messageHeaders };
      const answer = await connection.request(ingestSubject, payload, options);
      this.circuit.succeed();
      return answer;
    } catch (error) {
      if (error instanceof TimeoutError) this.circuit.fail(begunAt);
      else this.circuit.succeed(); // refused by the broker or the client, at once
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

/** A hash, since a message id of the platform's may hold what a header may not. */
function messageIdOf({ id, eventId }: NewEvent): string {
  return createHash('sha256')
    .update(eventId ?? id)
    .digest('hex');
}

/** `{"stream":"INGEST","seq":7}`, or `{"error":{"description":"maximum bytes exceeded"}}`. */
function expectAcknowledgement(answer: unknown): void {
  if (!isJsonObject(answer)) throw new Error('the stream gave no acknowledgement');
  const { error, seq } = answer;
  if (isJsonObject(error)) throw new Error(`the stream refused the message: ${String(error.description)}`);
  if (typeof seq !== 'number') throw new Error('the stream gave no acknowledgement');
}

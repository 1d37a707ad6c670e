import {
  createInbox,
  MsgHdrsImpl,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import type { Tracing } from '@stream-events/service';
import { tracePublishing, tracingOf } from './message-traces.js';

export interface OutgoingMessage {
  subject: string;
  /**
   * The `Nats-Msg-Id`: within the deduplication window, the stream keeps one message per id. The id must not contain line breaks. The
   * publisher does not check this.
   */
  messageId: string;
  payload: string | Uint8Array;
  /** Additional headers, whose names and values must be valid: the publisher does not check them. */
  headers?: Readonly<Record<string, string>>;
}

export interface StreamPublisherOptions {
  /** A prefix to which the connection's user may subscribe. */
  inboxPrefix: string;
  /** How long to wait for a batch's acknowledgements, in milliseconds; 5 s by default. */
  timeoutMs?: number;
}

/** No stream accepted the message: no stream has its subject, the stream has no leader, or the stream did not reply. */
export class StreamUnreachableError extends Error {}

/** An acknowledgement is late, so it is unknown which messages the stream has stored. */
export class AcknowledgementTimeoutError extends StreamUnreachableError {}

interface PendingBatch {
  missing: number;
  lastSequence: number;
  resolve: (lastSequence: number) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

// How long to wait for acknowledgements. A working stream acknowledges within milliseconds, and a cluster elects a new leader within
// seconds.
const defaultTimeoutMs = 5_000;

/**
 * Publishes messages to a stream in batches, and counts each batch's acknowledgements on one inbox. One promise per message would halve the
 * throughput.
 */
export class StreamPublisher {
  private readonly pending = new Map<string, PendingBatch>();
  private readonly inbox: string;
  private readonly subscription: Subscription;
  private readonly timeoutMs: number;
  private readonly tracing: Tracing | undefined;
  private lastBatch = 0;

  constructor(
    private readonly connection: NatsConnection,
    { inboxPrefix, timeoutMs = defaultTimeoutMs }: StreamPublisherOptions,
  ) {
    this.timeoutMs = timeoutMs;
    this.tracing = tracingOf(connection);
    this.inbox = createInbox(inboxPrefix);
    this.subscription = connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        // If acknowledgements cannot be received, fail all waiting batches with the reason.
        if (error) this.settleAll(error);
        else this.onAcknowledgement(message);
      },
    });
  }

  /**
   * Publishes messages, and returns once the stream has acknowledged them all. If this throws, any of the messages may be on the stream.
   *
   * @returns the highest stream sequence in the batch; 0 for an empty batch
   * @throws StreamUnreachableError when no stream has the subject
   * @throws AcknowledgementTimeoutError when an acknowledgement is late
   * @throws Error with the broker's reason when the stream refuses a message
   */
  async publish(messages: readonly OutgoingMessage[]): Promise<number> {
    // An empty batch gets no acknowledgement and would never complete.
    if (messages.length === 0) return 0;
    if (!this.tracing) return this.send(messages);
    const { messages: traced, spans } = tracePublishing(this.tracing, messages);
    try {
      const lastSequence = await this.send(traced);
      spans.end();
      return lastSequence;
    } catch (error) {
      spans.end(error);
      throw error;
    }
  }

  private send(messages: readonly OutgoingMessage[]): Promise<number> {
    const batch = String((this.lastBatch += 1));
    const acknowledged = new Promise<number>((resolve, reject) => {
      const timer = setTimeout(
        () => this.settle(batch, timedOut(messages.length, this.timeoutMs)),
        this.timeoutMs,
      );
      this.pending.set(batch, { missing: messages.length, lastSequence: 0, resolve, reject, timer });
    });
    try {
      for (const { subject, headers, payload } of printMessages(messages))
        this.connection.publish(subject, payload, { reply: `${this.inbox}.${batch}`, headers });
    } catch (error) {
      this.settle(batch, error instanceof Error ? error : new Error(String(error)));
    }
    return acknowledged;
  }

  /**
   * Fails every unacknowledged batch at once. Call this when the connection or the stream is lost, so that the batches do not wait for
   * their time limits.
   */
  abandon(reason: string): void {
    this.settleAll(new Error(reason));
  }

  /** Fails every unacknowledged batch, and stops listening for acknowledgements. */
  close(): void {
    this.subscription.unsubscribe();
    this.abandon('the publisher is closed');
  }

  private onAcknowledgement(message: Msg): void {
    const batch = message.subject.slice(this.inbox.length + 1);
    const entry = this.pending.get(batch);
    if (!entry) return;
    const sequence = readSequence(message);
    if (typeof sequence !== 'number') {
      this.settle(batch, sequence);
      return;
    }
    entry.lastSequence = Math.max(entry.lastSequence, sequence);
    entry.missing -= 1;
    if (entry.missing === 0) this.settle(batch);
  }

  private settleAll(error: Error): void {
    for (const batch of [...this.pending.keys()]) this.settle(batch, error);
  }

  private settle(batch: string, error?: Error): void {
    const entry = this.pending.get(batch);
    if (!entry) return;
    this.pending.delete(batch);
    clearTimeout(entry.timer);
    if (error) entry.reject(error);
    else entry.resolve(entry.lastSequence);
  }
}

/** Encoded headers; the NATS client only asks for their bytes. */
class PrintedHeaders extends MsgHdrsImpl {
  constructor(private readonly bytes: Uint8Array) {
    super();
  }

  override encode(): Uint8Array {
    return this.bytes;
  }
}

interface PrintedMessage {
  subject: string;
  headers: MsgHdrs;
  payload: Uint8Array;
}

// In UTF-8, a UTF-16 code unit takes at most three bytes.
const maxBytesPerUnit = 3;

/**
 * Writes a batch's headers and payloads into one buffer. The NATS client would allocate two buffers per message, and check every header.
 */
function printMessages(messages: readonly OutgoingMessage[]): PrintedMessage[] {
  const texts = messages.map(printHeaders);
  let units = 0;
  for (const text of texts) units += text.length;
  for (const { payload } of messages) if (typeof payload === 'string') units += payload.length;
  const buffer = Buffer.allocUnsafe(units * maxBytesPerUnit);
  let at = 0;
  const print = (text: string): Uint8Array => {
    const from = at;
    at += buffer.write(text, at);
    return buffer.subarray(from, at);
  };
  return messages.map(({ subject, payload }, index) => ({
    subject,
    headers: new PrintedHeaders(print(texts[index] ?? '')),
    payload: typeof payload === 'string' ? print(payload) : payload,
  }));
}

function printHeaders({ messageId, headers }: OutgoingMessage): string {
  let text = `NATS/1.0\r\nNats-Msg-Id: ${messageId}\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return `${text}\r\n`;
}

function timedOut(count: number, timeoutMs: number): AcknowledgementTimeoutError {
  return new AcknowledgementTimeoutError(
    `the stream did not acknowledge a batch of ${count} message(s) within ${timeoutMs} ms`,
  );
}

// Match the text instead of parsing JSON, which would be slower. Nearly every reply is {"stream":"EVENTS", "seq":7}. A rejection contains
// "error", and 0 as its sequence.
const sequencePattern = /"seq"\s*:\s*([1-9]\d*)/;

/**
 * Returns the stored message's sequence, or the error from the acknowledgement. A 503 without a body means that no stream has the subject.
 */
function readSequence(message: Msg): number | Error {
  if (message.headers?.code === 503)
    return new StreamUnreachableError('cannot publish a message: there is no stream for its subject');
  const text = message.string();
  const sequence = Number(sequencePattern.exec(text)?.[1]);
  if (Number.isSafeInteger(sequence)) return sequence;
  return new Error(`the stream rejected a message: ${text}`);
}

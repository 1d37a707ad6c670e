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

/** A message for a JetStream stream. */
export interface OutgoingMessage {
  subject: string;
  /**
   * The `Nats-Msg-Id`: within its deduplication window, the stream keeps only one message per id. The id must contain no line breaks. The
   * publisher does not check this.
   */
  messageId: string;
  payload: string | Uint8Array;
  /** Additional headers. Names and values must be valid in a header. The publisher does not check this. */
  headers?: Readonly<Record<string, string>>;
}

/** The inbox and the time limit for acknowledgements. */
export interface StreamPublisherOptions {
  /** The inbox prefix that the connection's user may subscribe to. */
  inboxPrefix: string;
  /** How long to wait for the acknowledgements of one batch, in milliseconds; 5 s by default. */
  timeoutMs?: number;
}

/** No stream accepted the message: the subject has no stream, the stream currently has no leader, or the stream did not reply. */
export class StreamUnreachableError extends Error {}

/** An acknowledgement is still missing at the time limit, so it is unknown which messages the stream has stored. */
export class AcknowledgementTimeoutError extends StreamUnreachableError {}

/**
 * The broker has lost the files of the stream. This can happen in nats-server 2.9 when a stream is created while a stream of the same name
 * is still being deleted. The server then acknowledges messages until it has to create the next file, and rejects all later messages.
 */
export class StreamFilesGoneError extends Error {}

interface PendingBatch {
  missing: number;
  lastSequence: number;
  resolve: (lastSequence: number) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

// How long to wait for acknowledgements. A working stream acknowledges within milliseconds; a cluster elects a new leader within seconds.
const defaultTimeoutMs = 5_000;

/**
 * Publishes batches of messages to a stream and counts the acknowledgements of each batch on one inbox. A promise for
 * each message would halve the throughput.
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
        // When acknowledgements cannot be received, fail all waiting batches with the reason.
        if (error) this.settleAll(error);
        else this.onAcknowledgement(message);
      },
    });
  }

  /**
   * Publishes messages and returns when the stream has acknowledged every message. When this method throws, any of the messages
   * can be on the stream.
   *
   * @returns the highest stream sequence of a message in the batch; 0 for an empty batch
   * @throws StreamUnreachableError when a subject has no stream
   * @throws AcknowledgementTimeoutError when an acknowledgement is still missing at the time limit
   * @throws StreamFilesGoneError; Error with the broker's reason when the stream refuses a message
   */
  async publish(messages: readonly OutgoingMessage[]): Promise<number> {
    // No acknowledgement would ever complete an empty batch.
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
   * Fails every unacknowledged batch. Call this function when the connection or the stream is lost. Otherwise, the batches fail only at the
   * time limit.
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

/** Headers that are already encoded. To publish them, the NATS client needs only their bytes. */
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

// A UTF-16 code unit becomes at most three bytes of UTF-8.
const maxBytesPerUnit = 3;

/**
 * Writes the headers and payloads of a batch into one buffer. The NATS client itself would make two buffers for each message, and check the
 * names and values of the headers.
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

// Avoid JSON.parse for each message: nearly every reply is {"stream":"EVENTS", "seq":7}. A rejection contains "error" and the
// sequence 0.
const sequencePattern = /"seq"\s*:\s*([1-9]\d*)/;

// The broker's code for a storage failure, with the operating system's message for a missing file.
const filesGonePattern = /"err_code"\s*:\s*10077\b.*no such file or directory/s;

/**
 * Returns the sequence of the stored message, or the error in the acknowledgement. A 503 without a body means that the subject has no
 * stream.
 */
function readSequence(message: Msg): number | Error {
  if (message.headers?.code === 503)
    return new StreamUnreachableError('cannot publish a message: there is no stream for its subject');
  const text = message.string();
  const sequence = Number(sequencePattern.exec(text)?.[1]);
  if (Number.isSafeInteger(sequence)) return sequence;
  const refusal = `the stream rejected a message: ${text}`;
  return filesGonePattern.test(text) ? new StreamFilesGoneError(refusal) : new Error(refusal);
}

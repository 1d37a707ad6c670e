import { eventSubject, occurredAtHeader, printEventRecord, type StoredEvent } from '@stream-events/contracts';
import {
  createInbox,
  headers,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';

/** An event with what its subject is made of. */
export interface PublishableEvent extends StoredEvent {
  broadcasterUserId: string | null;
}

/** Nobody answers for the stream: it is gone, or has no leader at the moment. */
export class StreamUnreachableError extends Error {}

/**
 * The broker has lost the files of the stream under itself, as nats-server 2.9 may when a stream is made while the one of
 * the same name is still being deleted: it says yes until the next file is due, and never again after that.
 */
export class StreamFilesGoneError extends Error {}

interface PendingBatch {
  missing: number;
  lastSequence: number;
  resolve: (lastSequence: number) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

// A stream that is up acknowledges within milliseconds, also while a cluster elects a leader within seconds.
const acknowledgementLimitMs = 5_000;

/**
 * Publishes batches to the EVENTS stream. The acknowledgements of a batch are counted on one inbox: a promise for each
 * message would halve the throughput.
 */
export class StreamPublisher {
  private readonly pending = new Map<string, PendingBatch>();
  private readonly inbox: string;
  private readonly subscription: Subscription;
  private lastBatch = 0;

  constructor(
    private readonly connection: NatsConnection,
    /** Under which the connection's user may read replies. */
    inboxPrefix: string,
  ) {
    this.inbox = createInbox(inboxPrefix);
    this.subscription = connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        // Acknowledgements that cannot be read must fail what waits for them, with the reason.
        if (error) this.settleAll(error);
        else this.onAcknowledgement(message);
      },
    });
  }

  /**
   * Publishes events; done when the stream has acknowledged every one of them. `Nats-Msg-Id` is the event's id: an event
   * that is published again within the stream's window is on it once, and subscribers de-duplicate by it.
   *
   * @returns the highest sequence that an event of the batch has on the stream; 0 without events
   * @throws StreamUnreachableError when there is no stream, or an acknowledgement is missing after 5 s
   * @throws when the stream says no; in all cases some of the events may be on the stream
   */
  async publish(events: readonly PublishableEvent[]): Promise<number> {
    // Nothing would ever acknowledge an empty batch (its events left the store before it was published).
    if (events.length === 0) return 0;
    const batch = String((this.lastBatch += 1));
    const acknowledged = new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.settle(
          batch,
          new StreamUnreachableError(
            `the stream did not acknowledge a batch of ${events.length} events in time`,
          ),
        );
      }, acknowledgementLimitMs);
      this.pending.set(batch, { missing: events.length, lastSequence: 0, resolve, reject, timer });
    });
    try {
      for (const event of events) this.send(event, `${this.inbox}.${batch}`);
    } catch (error) {
      this.settle(batch, error instanceof Error ? error : new Error(String(error)));
    }
    return acknowledged;
  }

  /** Fails what is not acknowledged yet: a lost connection or stream will not do it. */
  abandon(): void {
    this.settleAll(new Error('the stream came into doubt before it acknowledged'));
  }

  /** Stops counting; batches that are not acknowledged yet fail. */
  close(): void {
    this.subscription.unsubscribe();
    this.settleAll(new Error('the publisher is closed'));
  }

  private send(event: PublishableEvent, reply: string): void {
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', event.id);
    if (event.occurredAt != null)
      messageHeaders.set(occurredAtHeader, new Date(event.occurredAt).toISOString());
    const subject = eventSubject(event.origin, event.eventType, event.broadcasterUserId);
    this.connection.publish(subject, printEventRecord(event), { reply, headers: messageHeaders });
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

// {"stream":"EVENTS", "seq":7} is the ordinary answer, by far, and is not worth a JSON.parse for each event. A refusal
// has "error" and the sequence 0.
const sequencePattern = /"seq"\s*:\s*([1-9]\d*)/;

// The broker's error for a failure of its storage, with the operating system's words for a file that is not there.
const filesGonePattern = /"err_code"\s*:\s*10077\b.*no such file or directory/s;

/** The sequence that the stream gave an event, or why it did not take it. A 503 without body: nobody has the subject. */
function readSequence(message: Msg): number | Error {
  if (message.headers?.code === 503)
    return new StreamUnreachableError('the stream refused an event: there is no stream for it');
  const text = message.string();
  const sequence = Number(sequencePattern.exec(text)?.[1]);
  if (Number.isSafeInteger(sequence)) return sequence;
  const refusal = `the stream refused an event: ${text}`;
  return filesGonePattern.test(text) ? new StreamFilesGoneError(refusal) : new Error(refusal);
}

import type { Consumer, ConsumerMessages, ConsumerNotification, JsMsg } from '@nats-io/jetstream';
import {
  maxInFlight,
  toStreamMessage,
  type EventsStreamClient,
  type StreamMessage,
} from './events-stream-client.js';

/** Receives messages synchronously and in order. */
export interface ReaderListener {
  onMessage(message: StreamMessage): void;
  /** Called when the stream has no undelivered message up to this sequence. */
  onIdle(sequence: number): void;
}

const pullMs = 10_000;
// How often NATS sends a heartbeat. Two missed heartbeats end the reader, so the gateway notices a lost consumer within about 2 s.
const heartbeatMs = 1_000;

/**
 * Reads the stream from a sequence on, with its own consumer. The reader ends at the first sign that its consumer was lost or changed,
 * because messages could then be missing. The caller then checks the stream and opens a new reader.
 */
export class StreamReader {
  /** Resolves with the reason when the reader ends. */
  readonly ended: Promise<string>;
  private isEnded = false;
  private resolveEnded: (reason: string) => void = () => undefined;
  private messages: ConsumerMessages | undefined;
  /** Number of messages that the consumer has delivered. */
  private delivered = 0;
  private readonly ignoreConnection: () => void;

  private constructor(
    private readonly stream: EventsStreamClient,
    private readonly consumer: Consumer,
    private readonly listener: ReaderListener,
  ) {
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve;
    });
    this.ignoreConnection = stream.onDisconnected(() => this.end('the connection to NATS was lost'));
  }

  /** @throws if the stream does not exist, or NATS does not respond */
  static async open(
    stream: EventsStreamClient,
    from: number,
    listener: ReaderListener,
  ): Promise<StreamReader> {
    const reader = new StreamReader(stream, await stream.addConsumer(from), listener);
    try {
      await reader.begin();
    } catch (error) {
      reader.end(String(error));
      throw error;
    }
    return reader;
  }

  /** Ends the reader. The listener gets no further calls. */
  end(reason: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.ignoreConnection();
    this.messages?.stop();
    void this.stream.deleteConsumer(this.consumer);
    this.resolveEnded(reason);
  }

  private async begin(): Promise<void> {
    const messages = await this.consumer.consume({
      // A callback, because an iterator creates a promise per message.
      callback: (message) => this.onMessage(message),
      max_messages: maxInFlight.liveReader,
      expires: pullMs,
      idle_heartbeat: heartbeatMs,
      // End the reader when the consumer is missing. By default, the NATS client would wait until the consumer exists again.
      bind: true,
      abort_on_missing_resource: true,
    });
    this.messages = messages;
    if (this.isEnded) messages.stop();
    void this.follow(messages);
    void messages.closed().then((error) => this.end(String(error ?? 'the consumer is closed')));
  }

  private onMessage(message: JsMsg): void {
    if (this.isEnded) return;
    this.delivered += 1;
    if (message.info.deliverySequence !== this.delivered)
      return this.end('messages of the EVENTS stream were lost in transit');
    this.listener.onMessage(toStreamMessage(message, this.stream.tracing));
  }

  private async follow(messages: ConsumerMessages): Promise<void> {
    for await (const notification of messages.status()) this.onNotification(notification);
  }

  private onNotification(notification: ConsumerNotification): void {
    if (this.isEnded) return;
    switch (notification.type) {
      case 'heartbeat':
        if (notification.lastConsumerSequence > this.delivered)
          return this.end('messages of the EVENTS stream were lost in transit');
        return this.listener.onIdle(notification.lastStreamSequence);
      case 'heartbeats_missed':
      case 'consumer_deleted':
      case 'consumer_not_found':
      case 'stream_not_found':
      case 'no_responders':
      case 'exceeded_limits':
        return this.end(`the consumer is gone or does not respond: ${notification.type}`);
      default:
      // The other notifications need no reaction. For example, they report that a pull request was sent or has expired.
    }
  }
}

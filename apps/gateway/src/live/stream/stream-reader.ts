import type { Consumer, ConsumerMessages, ConsumerNotification, JsMsg } from '@nats-io/jetstream';
import { toStreamMessage, type EventsStreamClient, type StreamMessage } from './events-stream-client.js';

/** Whom a reader tells, at once and in order. */
export interface ReaderListener {
  onMessage(message: StreamMessage): void;
  /** Nothing is on the stream, up to this sequence, that was not told of. */
  onIdle(sequence: number): void;
}

// How much the broker may send ahead. Events have up to 256 KiB, and a broker drops the connection of a client that it has
// 64 MiB waiting for.
const maxMessages = 200;
const pullMs = 10_000;
// Two that are missing end the reader: a consumer that has gone in silence is noticed after so long.
const heartbeatMs = 1_000;

/**
 * Reads the stream from a sequence on, by a consumer of its own. It ends at the first sign that the consumer is not what
 * it was; then nobody knows what it would deliver next, and the stream is to be looked at anew.
 */
export class StreamReader {
  /** Why it has ended. */
  readonly ended: Promise<string>;
  private isEnded = false;
  private resolveEnded: (reason: string) => void = () => undefined;
  private messages: ConsumerMessages | undefined;
  /** How many messages the consumer has delivered. */
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
    this.ignoreConnection = stream.onDisconnected(() => this.end('the connection to NATS is lost'));
  }

  /** @throws when there is no stream, or the broker does not answer */
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

  /** Nothing more is told. */
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
      // Not an iterator, which makes a promise for each message.
      callback: (message) => this.onMessage(message),
      max_messages: maxMessages,
      expires: pullMs,
      idle_heartbeat: heartbeatMs,
      // The client would go on with whatever it finds; this ends instead.
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
      return this.end('the consumer has lost messages on their way');
    this.listener.onMessage(toStreamMessage(message));
  }

  private async follow(messages: ConsumerMessages): Promise<void> {
    for await (const notification of messages.status()) this.onNotification(notification);
  }

  private onNotification(notification: ConsumerNotification): void {
    if (this.isEnded) return;
    switch (notification.type) {
      case 'heartbeat':
        if (notification.lastConsumerSequence > this.delivered)
          return this.end('the consumer has lost messages on their way');
        return this.listener.onIdle(notification.lastStreamSequence);
      case 'heartbeats_missed':
      case 'consumer_deleted':
      case 'consumer_not_found':
      case 'stream_not_found':
      case 'no_responders':
      case 'exceeded_limits':
        return this.end(`the consumer is gone or does not answer: ${notification.type}`);
      default:
      // Of no interest: pulls that are sent and expire.
    }
  }
}

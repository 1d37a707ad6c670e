import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type JsMsg,
} from '@nats-io/jetstream';
import { isStreamNotFound } from '@stream-events/messaging';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { durableConsumers, eventsStreamName } from '@stream-events/contracts';

// An event is written down within milliseconds, or given up after 12 s (the time limit of a query).
const acknowledgeWithinMs = 30_000;
// Twenty instances with all that they work on at once, and what waits to be tried again while the database is away.
const maxUnacknowledged = 1_000;
const maxFetchMessages = 100;
// How long a fetch waits for messages, each of which it hands on as it comes.
const fetchMs = 5_000;
const requestLimitMs = 5_000;

/** The EVENTS stream is not there (yet): the events service makes it. */
export class StreamMissingError extends Error {}

/** A durable consumer of the EVENTS stream that all instances share: of the platform's events of one type. */
export class EventsConsumer {
  private consumer: Consumer | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly eventType: keyof typeof durableConsumers,
  ) {}

  private get name(): string {
    return durableConsumers[this.eventType];
  }

  /**
   * Hands on what comes within five seconds, a hundred messages at most. Makes the consumer when it is not there: at the first
   * start, and when the stream was lost and made anew. It then gets all that is on the stream, which changes nothing twice.
   *
   * @returns false when nothing came
   * @throws StreamMissingError; what the broker says when it cannot be asked; what `onMessage` throws
   */
  async fetch(onMessage: (message: JsMsg) => Promise<void>, interruption: AbortSignal): Promise<boolean> {
    try {
      this.consumer ??= await this.ensure();
      const count = await this.handOn(this.consumer, onMessage, interruption);
      // A consumer that is gone may be as quiet as one that has nothing.
      if (count === 0 && !interruption.aborted) await this.consumer.info();
      return count > 0;
    } catch (error) {
      this.consumer = undefined;
      throw error;
    }
  }

  /** How many events wait to be handed on; for all instances together. */
  async countWaiting(): Promise<number> {
    const manager = await this.manage();
    return (await manager.consumers.info(eventsStreamName, this.name)).num_pending;
  }

  private async handOn(
    consumer: Consumer,
    onMessage: (message: JsMsg) => Promise<void>,
    interruption: AbortSignal,
  ): Promise<number> {
    const fetching = await consumer.fetch({ max_messages: maxFetchMessages, expires: fetchMs });
    const stop = (): void => fetching.stop();
    interruption.addEventListener('abort', stop);
    if (interruption.aborted) stop();
    let count = 0;
    try {
      for await (const message of fetching) {
        count += 1;
        await onMessage(message);
      }
    } finally {
      interruption.removeEventListener('abort', stop);
    }
    return count;
  }

  private async ensure(): Promise<Consumer> {
    const manager = await this.manage();
    try {
      await manager.consumers.add(eventsStreamName, {
        durable_name: this.name,
        filter_subject: `events.platform.${this.eventType}.>`,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(acknowledgeWithinMs),
        deliver_policy: DeliverPolicy.All,
        max_ack_pending: maxUnacknowledged,
      });
    } catch (error) {
      if (isStreamNotFound(error))
        throw new StreamMissingError(`there is no stream ${eventsStreamName}`, { cause: error });
      throw error;
    }
    return jetstream(this.connection).consumers.get(eventsStreamName, this.name);
  }

  private manage() {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestLimitMs });
  }
}

import {
  AckPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { pause } from '@stream-events/service';

const consumerName = 'drain';

// Storing a batch takes milliseconds; a batch that hangs is given up after 12 s (the time limit of a query).
const ackWaitMs = 30_000;
// Twenty instances with a full batch each.
const maxAckPending = 2_000;
// Must hold the largest message that the broker takes (1 MiB), or that message would block the queue forever.
const maxFetchBytes = 2 * 1024 ** 2;
// The client's own limit for a fetch that is limited by bytes.
const maxFetchMessages = 100;
// How long a fetch waits for its batch to fill: the shortest time that the client allows.
const gatherMs = 1_000;
const requestTimeoutMs = 2_000;
// How often a missing stream is looked for.
const absentMs = 60_000;

/** A JetStream work queue that holds accepted platform messages until they are stored. All instances share one consumer. */
export abstract class WorkQueue {
  private consumer: Consumer | undefined;

  constructor(
    private readonly connection: NatsConnection,
    /** The name of the stream. */
    readonly name: string,
  ) {}

  /**
   * Creates the stream or brings its configuration up to date.
   *
   * @returns false when the stream does not exist and is not to be created
   * @throws when the stream holds the messages of another platform, or the broker has no room for it
   */
  protected abstract prepareStream(manager: JetStreamManager): Promise<boolean>;

  /** Runs after a fetch that found no message. */
  protected abstract onEmptyFetch(manager: JetStreamManager): Promise<void>;

  /**
   * Prepares the stream and its consumer.
   *
   * @returns undefined when there is no stream
   * @throws as `prepareStream` does
   */
  async ensure(): Promise<Consumer | undefined> {
    const manager = await this.manage();
    if (!(await this.prepareStream(manager))) return undefined;
    await manager.consumers.add(this.name, {
      durable_name: consumerName,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_ack_pending: maxAckPending,
    });
    return jetstream(this.connection).consumers.get(this.name, consumerName);
  }

  /**
   * Fetches waiting messages, at most one batch. Returns none when none arrives within a second, when there is no stream
   * (then after a minute), or when interrupted.
   *
   * @throws when the broker does not answer
   */
  async fetch(interruption: AbortSignal): Promise<JsMsg[]> {
    const messages: JsMsg[] = [];
    try {
      this.consumer ??= await this.ensure();
      if (!this.consumer) {
        await pause(absentMs, interruption);
        return [];
      }
      await gather(this.consumer, messages, interruption);
      if (messages.length === 0) await this.afterEmptyFetch();
    } catch (error) {
      // The client reports the limit of bytes as an error. Any other error comes again at the next fetch.
      if (messages.length > 0) return messages;
      this.consumer = undefined;
      throw error;
    }
    return messages;
  }

  /** Counts the messages that are not stored yet, including those that are being stored. */
  async count(): Promise<number> {
    const { streams } = await this.manage();
    return (await streams.info(this.name)).state.messages;
  }

  /** Has the next fetch prepare the stream and its consumer again. */
  protected forgetConsumer(): void {
    this.consumer = undefined;
  }

  private async afterEmptyFetch(): Promise<void> {
    const manager = await this.manage();
    await this.redeliverForgotten(manager);
    await this.onEmptyFetch(manager);
  }

  /**
   * Deletes the consumer when the stream still holds messages that were acknowledged; the next consumer gets them again.
   * nats-server 2.9 writes the removal of a message to disk late. A crash therefore brings acknowledged messages back, and
   * the old consumer never delivers them. The store recognizes a message that was stored before by its key.
   */
  private async redeliverForgotten({ consumers, streams }: JetStreamManager): Promise<void> {
    if ((await this.count()) === 0) return;
    // In this order: everything up to the acknowledgement floor was acknowledged before the stream is read.
    const { ack_floor } = await consumers.info(this.name, consumerName);
    const { state } = await streams.info(this.name);
    if (state.messages === 0 || state.first_seq > ack_floor.stream_seq) return;
    await consumers.delete(this.name, consumerName);
    this.forgetConsumer();
  }

  protected manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestTimeoutMs });
  }
}

/** Collects messages until the batch is full, a second is over, or the signal interrupts. */
async function gather(consumer: Consumer, messages: JsMsg[], interruption: AbortSignal): Promise<void> {
  const fetching = await consumer.fetch({ max_bytes: maxFetchBytes, expires: gatherMs });
  const stop = (): void => fetching.stop();
  interruption.addEventListener('abort', stop);
  if (interruption.aborted) stop();
  try {
    for await (const message of fetching) if (messages.push(message) === maxFetchMessages) break;
  } finally {
    interruption.removeEventListener('abort', stop);
  }
}

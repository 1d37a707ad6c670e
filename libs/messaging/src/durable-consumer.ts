import {
  AckPolicy,
  jetstream,
  JetStreamApiError,
  jetstreamManager,
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { durableConsumers, eventsStreamName, type DurableConsumerName } from '@stream-events/contracts';
import {
  FailureLog,
  WorkerLoop,
  within,
  type Logger,
  type Registry,
  type Tracing,
} from '@stream-events/service';
import { batchesOf } from './message-batches.js';
import { ConsumedMessages } from './message-metrics.js';
import { readTrace, tracingOf } from './message-traces.js';
import { isStreamNotFound } from './stream-not-found.js';

/** A message as a handler gets it: the handler returns an outcome and does not acknowledge the message itself. */
export type DeliveredMessage = Pick<JsMsg, 'data' | 'headers' | 'info' | 'seq' | 'string' | 'subject'>;

/**
 * What the handler of a message decides.
 *
 * | outcome                   | acknowledgement | the broker                               |
 * |---------------------------|-----------------|------------------------------------------|
 * | `done`                    | ack             | is finished with the message             |
 * | `discard`                 | term            | never delivers it again                  |
 * | `retry`, thrown error     | nak with delay  | delivers it again, later each time       |
 * | none (process died)       | none            | delivers it again after 30 s             |
 */
export type Outcome = 'done' | 'discard' | 'retry';

/** Handles each message as it arrives. */
export interface MessageHandling {
  /**
   * Maximum number of messages that an instance handles at a time. With 1, the instance handles messages in stream order, except for
   * retries.
   */
  maxInFlight: number;
  handle(message: DeliveredMessage): Promise<Outcome>;
}

/** Handles messages in batches of up to 100 messages and 2 MiB. The consumer collects a batch for at most 0.5 s. */
export interface BatchHandling {
  /**
   * Returns the messages' outcomes in the same order. If this method throws, the consumer retries the whole batch. If it throws, or returns
   * only `retry`, the database is probably unavailable, so the consumer pauses, longer each time.
   */
  handleBatch(messages: readonly DeliveredMessage[]): Promise<readonly Outcome[]>;
}

type Batches = AsyncGenerator<JsMsg[], undefined>;

/** What a durable consumer reads, and how it handles messages. */
export interface DurableConsumerOptions {
  stream: string;
  /** The durable name, by which instances share the messages. */
  name: string;
  config?: Partial<ConsumerConfig>;
  handling: MessageHandling | BatchHandling;
  /** Maximum delay before a redelivery, in milliseconds. Delays start at 0.5 s and double each time. */
  maxRetryDelayMs: number;
  /** Creates or updates the stream. Without it, the consumer waits until another service creates the stream. */
  prepareStream?: () => Promise<void>;
  /** How long a fetch waits for messages, in milliseconds: 5,000 by default, 60,000 at most. */
  fetchMs?: number;
  /** Where to register the metrics that count messages. */
  metrics?: Registry;
}

// After this time without an acknowledgement, the broker redelivers a message. Handlers are faster: they normally take milliseconds, and a
// query in them at most 12 s (its time limit).
const ackWaitMs = 30_000;
const maxMessages = 100;
// How long a fetch waits for messages. If the broker is silent for that long, the client ends the fetch and drops messages that arrive
// later.
const defaultFetchMs = 5_000;
const minRetryDelayMs = 500;
const maxPauseMs = 5_000;
const requestLimitMs = 5_000;
// The broker's error code when a consumer of this name exists with another configuration. Adding an identical consumer succeeds.
const consumerExists = 10_148;
// How long `stop` waits for handlers, which normally take milliseconds. If the database hangs, `stop` gives up, and the broker redelivers
// the messages to another instance.
const stopLimitMs = 3_000;

/**
 * Reads a stream through a durable consumer that all instances of a service share, and acknowledges each message according to its outcome.
 * Continues after a restart of the broker, and recreates the consumer when it or its stream was deleted. A new consumer starts with the
 * first message on the stream.
 *
 * ```
 *              ┌──────────────── acknowledge ◀── outcome ────────────┐
 *              ▼                                                     │
 *  prepare ▶ fetch ── messages ──────────────────────────────────▶ handle
 *     ▲        │ broker unavailable, or consumer deleted             │ batch failed
 *     └────────┴──────────────── pause 0.5 s, 1 s … 5 s ◀────────────┘
 * ```
 */
export class DurableConsumer {
  private readonly loop: WorkerLoop;
  private readonly failureLog: FailureLog;
  private readonly inFlight = new Set<Promise<void>>();
  private readonly consumed: ConsumedMessages | undefined;
  private readonly tracing: Tracing | undefined;
  private consumer: Consumer | undefined;
  /**
   * The running fetch of batches, which continues after a failed batch: ending it early could drop messages in transit, which the broker
   * redelivers only after `ackWaitMs`.
   */
  private unfinished: { fetching: ConsumerMessages; batches: Batches } | undefined;
  private state: 'consuming' | 'waiting for the stream' | 'failing' = 'consuming';

  constructor(
    private readonly connection: NatsConnection,
    private readonly options: DurableConsumerOptions,
    private readonly logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
    const { stream, name: consumer, metrics } = options;
    this.consumed = metrics && new ConsumedMessages(metrics, { stream, consumer });
    this.tracing = tracingOf(connection);
    this.loop = new WorkerLoop({
      work: (stopping) => this.work(stopping),
      idleMs: 0, // each fetch waits for messages
      maxBackoffMs: maxPauseMs,
      onFailure: (error) => this.onFailure(error),
    });
  }

  start(): void {
    this.loop.start();
  }

  /**
   * Stops fetching, and waits up to 3 s for messages in progress. The broker redelivers the other fetched messages at once, and unfinished
   * ones after 30 s.
   */
  async stop(): Promise<void> {
    await within(
      stopLimitMs,
      this.loop.stop().then(() => this.giveBack()),
    );
  }

  /**
   * Counts the messages that the consumer has not delivered yet, on all instances together.
   *
   * @throws when the broker does not respond, or the consumer does not exist
   */
  async countPending(): Promise<number> {
    const { consumers } = await this.manage();
    return (await consumers.info(this.options.stream, this.options.name)).num_pending;
  }

  /** Runs one fetch. */
  private async work(stopping: AbortSignal): Promise<boolean> {
    try {
      this.consumer ??= await this.prepare();
      const isContinued = this.unfinished !== undefined;
      let count = await this.fetch(this.consumer, stopping);
      // If the failed fetch left no messages, it is still unknown whether the stream works again, so fetch again.
      if (isContinued && count === 0 && !stopping.aborted) count = await this.fetch(this.consumer, stopping);
      // An empty fetch can also mean that the consumer was deleted; `info` then throws.
      if (count === 0 && !stopping.aborted) await this.consumer.info();
    } catch (error) {
      const wasPrepared = this.consumer !== undefined;
      this.consumer = undefined;
      // The stream belongs to this service, so the next `prepare` recreates it.
      if (wasPrepared && this.options.prepareStream && isStreamNotFound(error)) return true;
      throw error;
    }
    if (this.state !== 'consuming') this.logger.info(this.fields, 'consuming the stream again');
    this.state = 'consuming';
    return true;
  }

  private async prepare(): Promise<Consumer> {
    const { stream, name, config, prepareStream } = this.options;
    await prepareStream?.();
    const { consumers } = await this.manage();
    const wanted = { ack_wait: nanos(ackWaitMs), ...config };
    try {
      await consumers.add(stream, { ...wanted, durable_name: name, ack_policy: AckPolicy.Explicit });
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== consumerExists) throw error;
      // An earlier version, or a server with other limits, created the consumer with another configuration.
      await consumers.update(stream, name, wanted);
    }
    return jetstream(this.connection).consumers.get(stream, name);
  }

  /** Handles the messages of one fetch, and returns how many there were. */
  private async fetch(consumer: Consumer, stopping: AbortSignal): Promise<number> {
    const { handling } = this.options;
    // Do not set `max_bytes`: in a cluster, nats-server 2.15 then reports a fetch as complete before its messages arrive. The client takes
    // this as an error and drops the messages, which the broker redelivers only after `ackWaitMs`. Events have at most 256 KiB, so
    // `maxMessages` of them fit in the server's buffer per client (64 MiB).
    const { fetchMs = defaultFetchMs } = this.options;
    const fetching =
      this.unfinished?.fetching ?? (await consumer.fetch({ max_messages: maxMessages, expires: fetchMs }));
    let wake: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => (wake = resolve));
    const end = (): void => {
      drain(fetching);
      wake?.();
    };
    stopping.addEventListener('abort', end);
    if (stopping.aborted) end();
    try {
      return await ('handleBatch' in handling
        ? this.handleBatches(fetching, handling, stopping)
        : this.handleEach(fetching, handling, { stopping, stopped }));
    } finally {
      stopping.removeEventListener('abort', end);
    }
  }

  private async handleEach(
    fetching: ConsumerMessages,
    handling: MessageHandling,
    { stopping, stopped }: { stopping: AbortSignal; stopped: Promise<void> },
  ): Promise<number> {
    let count = 0;
    try {
      for await (const message of fetching) {
        count += 1;
        if (stopping.aborted) {
          this.acknowledge(message, 'retry', 0);
          continue;
        }
        const handled = this.handleOne(message, handling).finally(() => this.inFlight.delete(handled));
        this.inFlight.add(handled);
        // After `stop`, return the remaining messages without waiting for slow handlers: the connection may close before they finish.
        if (this.inFlight.size >= handling.maxInFlight) await Promise.race([...this.inFlight, stopped]);
      }
    } catch (error) {
      // Ignore the error if messages arrived: all of them were handled. When handlers take longer than the fetch, the client reports
      // missing heartbeats. Any other problem shows again at the next fetch.
      if (count === 0) throw error;
    } finally {
      await Promise.all(this.inFlight);
    }
    return count;
  }

  private async handleOne(message: JsMsg, handling: MessageHandling): Promise<void> {
    let outcome: Outcome = 'retry';
    const startedAt = performance.now();
    const parent = this.tracing && readTrace(message);
    const span = parent && this.tracing.start(`handle ${this.options.name}`, { kind: 'consumer', parent });
    try {
      outcome = await handling.handle(message);
      span?.end({ attributes: { outcome } });
    } catch (err) {
      span?.end({ error: err });
      const { subject, seq: sequence } = message;
      this.failureLog.warn('cannot handle a message, retrying later', {
        ...this.fields,
        err,
        subject,
        sequence,
      });
    }
    this.consumed?.noteDuration(startedAt);
    this.consumed?.note(outcome);
    this.acknowledge(message, outcome);
  }

  /** @throws when every message of a batch must be retried; the next call continues with the same fetch */
  private async handleBatches(
    fetching: ConsumerMessages,
    handling: BatchHandling,
    stopping: AbortSignal,
  ): Promise<number> {
    const { batches } = (this.unfinished ??= { fetching, batches: batchesOf(fetching) });
    let count = 0;
    for (;;) {
      const { value: batch } = await this.nextBatch(batches);
      if (!batch) return count;
      count += batch.length;
      if (stopping.aborted) for (const message of batch) this.acknowledge(message, 'retry', 0);
      else await this.handleOneBatch(batch, handling);
    }
  }

  private async nextBatch(batches: Batches): Promise<IteratorResult<JsMsg[], undefined>> {
    try {
      const next = await batches.next();
      if (next.done) this.unfinished = undefined;
      return next;
    } catch (error) {
      this.unfinished = undefined;
      throw error;
    }
  }

  /** Returns the messages of a fetch that a failed batch left unfinished, so that the broker redelivers them at once. */
  private async giveBack(): Promise<void> {
    if (!this.unfinished) return;
    const { fetching, batches } = this.unfinished;
    drain(fetching);
    for await (const batch of batches) for (const message of batch) this.acknowledge(message, 'retry', 0);
  }

  /** @throws when every message of the batch must be retried */
  private async handleOneBatch(messages: readonly JsMsg[], handling: BatchHandling): Promise<void> {
    let outcomes: readonly Outcome[] = [];
    const startedAt = performance.now();
    try {
      outcomes = await handling.handleBatch(messages);
    } finally {
      this.consumed?.noteDuration(startedAt);
      messages.forEach((message, index) => {
        const outcome = outcomes[index] ?? 'retry';
        this.consumed?.note(outcome);
        this.acknowledge(message, outcome);
      });
    }
    if (outcomes.every((outcome) => outcome === 'retry'))
      throw new Error('every message of a batch failed, retrying');
  }

  private acknowledge(message: JsMsg, outcome: Outcome, retryInMs = this.retryDelayMs(message)): void {
    try {
      switch (outcome) {
        case 'done':
          return message.ack();
        case 'discard':
          return message.term();
        case 'retry':
          return message.nak(retryInMs);
      }
    } catch (err) {
      // The connection is closing; the broker redelivers the message to another instance.
      this.failureLog.warn('cannot acknowledge a message, the broker will redeliver it', {
        ...this.fields,
        err,
      });
    }
  }

  /** Returns 0.5 s after the first delivery, and doubles with each further delivery, up to the maximum. */
  private retryDelayMs({ info }: JsMsg): number {
    return Math.min(minRetryDelayMs * 2 ** (info.deliveryCount - 1), this.options.maxRetryDelayMs);
  }

  private manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestLimitMs });
  }

  /** Logs the first failure of an outage, and further ones only when the stream disappears or comes back during the outage. */
  private onFailure(err: unknown): void {
    const state = isStreamNotFound(err) ? 'waiting for the stream' : 'failing';
    if (state === this.state) return;
    this.state = state;
    // A missing stream is normal: the service that creates it may start later.
    if (state === 'waiting for the stream')
      this.logger.info(this.fields, 'stream does not exist, waiting for it');
    else this.logger.warn({ ...this.fields, err }, 'cannot read the stream or handle its messages, retrying');
  }

  private get fields() {
    return { stream: this.options.stream, consumer: this.options.name };
  }
}

/** Describes a durable consumer that reads platform events from the EVENTS stream. */
export function platformEvents(
  name: DurableConsumerName,
): Pick<DurableConsumerOptions, 'stream' | 'name' | 'config'> {
  const subjects = durableConsumers[name].map((type) => `events.platform.${type}.>`);
  return { stream: eventsStreamName, name, config: { filter_subjects: subjects } };
}

/**
 * Ends a fetch, but only after the messages in transit have arrived. The client's `stop` would drop these, and the broker would redeliver
 * them only after `ackWaitMs`. The client can drain a fetch's subscription, as it does for a whole connection, but has no public method for
 * it.
 */
function drain(fetching: ConsumerMessages): void {
  const { sub } = fetching as ConsumerMessages & { sub: Subscription };
  sub.drain().catch(() => fetching.stop()); // the fetch has ended, or the connection is closed
}

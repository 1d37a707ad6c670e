import {
  AckPolicy,
  type Consumer,
  DeliverPolicy,
  jetstream,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { nanos, nuid, type NatsConnection } from '@nats-io/transport-node';
import {
  confirmNoMessages,
  isStreamNotFound,
  LaggingServerError,
  type SequenceRange,
} from '@stream-events/messaging';

/** A message of a stream. */
export interface StoredMessage {
  sequence: number;
  /** The `Nats-Msg-Id` header, or an empty string. */
  messageId: string;
  data: Uint8Array;
}

/** The sequences that a stream spans, and its description. */
export interface StreamExtent {
  description: string;
  firstSequence: number;
  lastSequence: number;
}

const requestLimitMs = 5_000;
const fetchMs = 5_000;
const heartbeatMs = 1_000;
// Maximum number of messages per fetch. A message can be as large as 256 KiB, so a fetch holds up to 50 MiB in memory.
const maxFetched = 200;
const enoughBytes = 4 * 1024 * 1024;
// Maximum number of concurrent requests. More requests would only queue in the broker.
const concurrency = 32;

/** Reads and erases messages of one stream by sequence. */
export class StreamMessages {
  constructor(
    private readonly connection: NatsConnection,
    private readonly stream: string,
  ) {}

  /** Returns undefined when the stream does not exist. @throws when the broker does not respond */
  async find(): Promise<StreamExtent | undefined> {
    const { streams } = await this.manage();
    try {
      const { config, state } = await streams.info(this.stream);
      const { first_seq: firstSequence, last_seq: lastSequence } = state;
      return { description: config.description ?? '', firstSequence, lastSequence };
    } catch (error) {
      if (isStreamNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Reads messages in order through a temporary consumer, starting at `from`. Returns up to `limit` messages, or fewer if the messages are
   * large. An empty list means that the stream has no messages from `from` up to `until`. Do not call this for work queues, which allow
   * only one consumer.
   *
   * @throws LaggingServerError when the answering server's copy of the stream lacks messages
   * @throws when the broker does not respond, or messages were lost in transit
   */
  async read({ from, until }: SequenceRange, limit: number): Promise<StoredMessage[]> {
    const manager = await this.manage();
    const info = await manager.consumers.add(this.stream, {
      name: `erasure-${nuid.next()}`,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(30_000),
      mem_storage: true,
      num_replicas: 1,
    });
    const consumer = jetstream(this.connection, { timeout: requestLimitMs }).consumers.getConsumerFromInfo(
      info,
    );
    try {
      const messages: StoredMessage[] = [];
      let pending = Math.min(limit, info.num_pending);
      let bytes = 0;
      while (pending > 0 && bytes < enoughBytes) {
        const fetched = await fetchMessages(consumer, Math.min(pending, maxFetched), messages.length);
        // Throw, because returning nothing would move the position past messages that were never read.
        if (fetched.length === 0 && messages.length === 0) throw new LostOnTheWayError(this.stream, from);
        if (fetched.length === 0) break;
        // A message before `from` shows that this server's copy of the stream ends before `from`: the consumer started at the end of the
        // copy.
        if (fetched.some(({ sequence }) => sequence < from)) throw new LaggingServerError(this.stream, from);
        messages.push(...fetched);
        pending -= fetched.length;
        bytes += fetched.reduce((sum, { data }) => sum + data.length, 0);
      }
      if (messages.length === 0) await confirmNoMessages(manager, this.stream, { from, until });
      return messages;
    } finally {
      // If the deletion fails, the consumer expires after 30 s.
      await consumer.delete().catch(() => false);
    }
  }

  /** Sequences without a message are left out. */
  async readEach(sequences: readonly number[]): Promise<StoredMessage[]> {
    const { streams } = await this.manage();
    const found = await mapConcurrently(sequences, async (sequence): Promise<StoredMessage[]> => {
      const message = await streams.getMessage(this.stream, { seq: sequence });
      return message ? [{ sequence, messageId: message.header.get('Nats-Msg-Id'), data: message.data }] : [];
    });
    return found.flat();
  }

  /**
   * Erases messages: the broker overwrites their bytes. Ignores messages that are no longer on the stream.
   *
   * @throws when the broker does not respond
   */
  async erase(sequences: readonly number[]): Promise<void> {
    const { streams } = await this.manage();
    await mapConcurrently(sequences, async (sequence) => {
      try {
        await streams.deleteMessage(this.stream, sequence, true);
      } catch (error) {
        const isGone =
          error instanceof JetStreamApiError &&
          (await streams.getMessage(this.stream, { seq: sequence })) === null;
        if (!isGone) throw error;
      }
    });
  }

  private manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestLimitMs });
  }
}

/** Messages that the broker sent did not arrive. */
class LostOnTheWayError extends Error {
  constructor(stream: string, sequence: number) {
    super(
      `messages of the ${stream} stream near sequence ${sequence} were lost in transit, reading them again`,
    );
  }
}

async function fetchMessages(
  consumer: Consumer,
  wanted: number,
  alreadyRead: number,
): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  const fetching = await consumer.fetch({
    max_messages: wanted,
    expires: fetchMs,
    idle_heartbeat: heartbeatMs,
  });
  for await (const { info, headers, data } of fetching) {
    const messageId = headers?.get('Nats-Msg-Id') ?? '';
    messages.push({ sequence: info.streamSequence, messageId, data });
    // After a lost connection, the broker does not resend messages of this consumer, and the client reports no error. Only a gap in the
    // delivery sequence shows the loss.
    if (info.deliverySequence !== alreadyRead + messages.length)
      throw new LostOnTheWayError(info.stream, messages.at(-2)?.sequence ?? info.streamSequence);
    if (messages.length === wanted || info.pending === 0) break;
  }
  return messages;
}

async function mapConcurrently<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += concurrency)
    results.push(...(await Promise.all(items.slice(start, start + concurrency).map(work))));
  return results;
}

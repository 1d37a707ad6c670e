import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type ConsumerInfo,
  type ConsumerMessages,
  type StreamAPI,
} from '@nats-io/jetstream';
import { nanos, nuid, type NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName } from '@stream-events/contracts';

/** The NATS subject filter for platform events, and the prefix that their subjects share. */
const subjects = 'events.platform.>';
const prefix = 'events.platform.';

/**
 * Called for each event. `token` is `<event_type>.<channel>` from its subject; `at` is its time by the broker's clock, in milliseconds
 * since 1970.
 */
export type OnActivity = (token: string, at: number) => void;

const requestLimitMs = 2_000;
// When a process crashes, the broker deletes its consumer after this time.
const consumerLifeMs = 30_000;
const maxMessages = 1_000;
const pullMs = 10_000;
const heartbeatMs = 1_000;

/**
 * Reads the subjects and times of platform events, without their data, from the EVENTS stream. The stream keeps past events, so a new
 * reader first reads the events from before its start.
 */
export class ActivityReader {
  private isEnded = false;

  private constructor(
    private readonly streams: StreamAPI,
    private readonly consumer: Consumer,
    private readonly messages: ConsumerMessages,
    /** The time at which the consumer was created: by the broker's clock, and by this process's monotonic clock. */
    private readonly start: { brokerMs: number; ownMs: number },
  ) {
    void messages.closed().then(() => (this.isEnded = true));
    void this.endWhenLost();
  }

  /**
   * Reads the events of the last `sinceMs` milliseconds, then new events as they arrive.
   *
   * @throws when NATS does not respond, or the stream does not exist
   */
  static async open(
    connection: NatsConnection,
    sinceMs: number,
    onActivity: OnActivity,
  ): Promise<ActivityReader> {
    const options = { checkAPI: false, timeout: requestLimitMs };
    const { consumers, streams } = await jetstreamManager(connection, options);
    const info = await consumers.add(eventsStreamName, {
      name: `activity-${nuid.next()}`,
      description: 'alarms about silent channels',
      filter_subject: subjects,
      headers_only: true,
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: new Date(Date.now() - sinceMs).toISOString(),
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(consumerLifeMs),
      mem_storage: true,
      num_replicas: 1,
    });
    const start = { brokerMs: Date.parse(info.created), ownMs: performance.now() };
    const consumer = jetstream(connection, { timeout: requestLimitMs }).consumers.getConsumerFromInfo(info);
    const messages = await consumer.consume({
      callback: ({ subject, info: { timestampNanos } }) =>
        onActivity(subject.slice(prefix.length), Math.floor(timestampNanos / 1e6)),
      max_messages: maxMessages,
      expires: pullMs,
      idle_heartbeat: heartbeatMs,
      bind: true,
      abort_on_missing_resource: true,
    });
    return new ActivityReader(streams, consumer, messages, start);
  }

  /**
   * Whether the reader has ended: its consumer was deleted or is on the wrong server, or NATS was unreachable. If so, open another reader.
   */
  get hasEnded(): boolean {
    return this.isEnded;
  }

  /** The current time by the broker's clock. The broker also sets the times of events, so the two are comparable. */
  get now(): number {
    return this.start.brokerMs + (performance.now() - this.start.ownMs);
  }

  /**
   * Whether the listener has received every event that is in the stream at the time of the call.
   *
   * Only the stream's leader knows this. NATS can place a consumer without replicas on any server that stores the stream, even on one that
   * is catching up. Such a server reports no pending messages although it lacks the newest ones. If the consumer is not on the leader, this
   * method ends the reader; NATS may place the next reader's consumer on the leader. A server without a cluster is always the leader of the
   * stream and of the consumer.
   *
   * @throws when NATS does not respond
   */
  async isUpToDate(): Promise<boolean> {
    // Request the stream's info before the consumer's info. If the stream's leader changes between the requests, a consumer on the old
    // leader still reports correctly, because the old leader has every event from before the call. In the opposite order, the consumer's
    // server could report before it becomes the leader, while it lacks events.
    const stream = await this.streams.info(eventsStreamName);
    const { num_pending, cluster }: ConsumerInfo = await this.consumer.info();
    if (cluster?.leader !== stream.cluster?.leader) this.stop();
    // Messages that were delivered before the reply have already arrived, because the messages and the reply use the same connection.
    return !this.isEnded && num_pending === 0;
  }

  stop(): void {
    this.isEnded = true;
    this.messages.stop();
  }

  /** Ends the reader when its consumer is gone or heartbeats are missing. After a lost connection, deliveries might never resume. */
  private async endWhenLost(): Promise<void> {
    for await (const { type } of this.messages.status())
      if (type === 'heartbeats_missed' || type === 'consumer_deleted' || type === 'consumer_not_found')
        this.stop();
  }
}

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

/** The NATS subject filter for platform events, and the common prefix of their subjects. */
const subjects = 'events.platform.>';
const prefix = 'events.platform.';

/** Called for each event with `<event_type>.<channel>` from its subject, and its time in milliseconds since 1970 by the broker's clock. */
export type OnActivity = (token: string, at: number) => void;

const requestLimitMs = 2_000;
// After this time, the broker deletes the consumer of a process that has crashed.
const consumerLifeMs = 30_000;
const maxMessages = 1_000;
const pullMs = 10_000;
const heartbeatMs = 1_000;

/**
 * Reads the subjects and times of platform events, without their data, from the EVENTS stream. The stream keeps past events, so a new
 * reader also reads events that were published before it started.
 */
export class ActivityReader {
  private isEnded = false;

  private constructor(
    private readonly streams: StreamAPI,
    private readonly consumer: Consumer,
    private readonly messages: ConsumerMessages,
    /** When the consumer was created, by the broker's clock and by this process's monotonic clock. */
    private readonly start: { brokerMs: number; ownMs: number },
  ) {
    void messages.closed().then(() => (this.isEnded = true));
    void this.endWhenLost();
  }

  /**
   * Reads the events of the last `sinceMs` milliseconds, and then each new event.
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
   * Whether the reader has ended, because its consumer is gone or on the wrong server, or NATS was unreachable. If so, open another reader.
   */
  get hasEnded(): boolean {
    return this.isEnded;
  }

  /** The current time by the broker's clock, which also sets the times of the events. */
  get now(): number {
    return this.start.brokerMs + (performance.now() - this.start.ownMs);
  }

  /**
   * Whether the listener has received every event that was in the stream at the time of the call.
   *
   * Only the stream's leader knows this. NATS places a consumer without replicas on any server that stores the stream, even on a server that
   * is catching up, which then reports no pending messages although it lacks the newest ones. If the consumer is not on the leader, ends the
   * reader: NATS may place the consumer of the next reader on the leader. A single server reports itself as the leader of both.
   *
   * @throws when NATS does not respond
   */
  async isUpToDate(): Promise<boolean> {
    // Ask for the stream first: a server that has just been the leader has all events until then, but the next leader may not.
    const stream = await this.streams.info(eventsStreamName);
    const { num_pending, cluster }: ConsumerInfo = await this.consumer.info();
    if (cluster?.leader !== stream.cluster?.leader) this.stop();
    // Delivered messages arrive before the reply, because both use the same connection.
    return !this.isEnded && num_pending === 0;
  }

  stop(): void {
    this.isEnded = true;
    this.messages.stop();
  }

  /** Ends the reader when its consumer is gone or heartbeats are missing. After a lost connection, deliveries may not resume. */
  private async endWhenLost(): Promise<void> {
    for await (const { type } of this.messages.status())
      if (type === 'heartbeats_missed' || type === 'consumer_deleted' || type === 'consumer_not_found')
        this.stop();
  }
}

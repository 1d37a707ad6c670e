import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type ConsumerMessages,
} from '@nats-io/jetstream';
import { nanos, nuid, type NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName } from '@stream-events/contracts';

/** Called for each event with its channel, and its time by the broker's clock in milliseconds since 1970. */
export type OnActivity = (channel: string, at: number) => void;

/** The subjects of platform events. The last token is the channel. */
const subjects = 'events.platform.>';
// `ChannelActivity` counts the events of an hour.
const historyMs = 3_600_000;
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
    private readonly messages: ConsumerMessages,
    /** The time at which the consumer was created: by the broker's clock, and by this process's monotonic clock. */
    private readonly start: { brokerMs: number; ownMs: number },
  ) {
    void messages.closed().then(() => (this.isEnded = true));
    void this.endWhenLost();
  }

  /**
   * Reads the events of the last hour, then new events as they arrive.
   *
   * @throws when NATS does not respond, or the stream does not exist
   */
  static async open(connection: NatsConnection, onActivity: OnActivity): Promise<ActivityReader> {
    const options = { checkAPI: false, timeout: requestLimitMs };
    const { consumers } = await jetstreamManager(connection, options);
    const info = await consumers.add(eventsStreamName, {
      name: `activity-${nuid.next()}`,
      description: 'alarms about silent channels',
      filter_subject: subjects,
      headers_only: true,
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: new Date(Date.now() - historyMs).toISOString(),
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(consumerLifeMs),
      mem_storage: true,
      num_replicas: 1,
    });
    const start = { brokerMs: Date.parse(info.created), ownMs: performance.now() };
    const consumer = jetstream(connection, { timeout: requestLimitMs }).consumers.getConsumerFromInfo(info);
    const messages = await consumer.consume({
      callback: ({ subject, info: { timestampNanos } }) =>
        onActivity(subject.slice(subject.lastIndexOf('.') + 1), Math.floor(timestampNanos / 1e6)),
      max_messages: maxMessages,
      expires: pullMs,
      idle_heartbeat: heartbeatMs,
      bind: true,
      abort_on_missing_resource: true,
    });
    return new ActivityReader(messages, start);
  }

  /** Whether the reader has ended: its consumer was deleted, or NATS was unreachable. If so, open another reader. */
  get hasEnded(): boolean {
    return this.isEnded;
  }

  /** The current time by the broker's clock. The broker also sets the times of events, so the two are comparable. */
  get now(): number {
    return this.start.brokerMs + (performance.now() - this.start.ownMs);
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

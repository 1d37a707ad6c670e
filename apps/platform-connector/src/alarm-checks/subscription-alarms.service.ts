import { Inject, Injectable } from '@nestjs/common';
import type { AlarmKey } from '@stream-events/contracts';
import { Alarms } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ALARM_TIMES, type AlarmTimes } from '../alarms/alarm-times.js';
import { enabled, limitReached, notGranted, verificationFailed } from '../subscriptions/own-subscription.js';

// The streamer is polled, or the channel has not given its consent: states that the API shows with their remedies.
const acceptedStatuses = [enabled, limitReached, notGranted];
const unreachableStatuses = [verificationFailed, 'notification_failures_exceeded'];
const webhookDown = 'transport_down:webhook';
const notEnabled = 'subscription_not_enabled';

interface StatusCount {
  status: string;
  count: number;
  example: string;
}

/** Checks that the subscriptions are enabled, and that the platform can reach the webhook callback. */
@Injectable()
export class SubscriptionAlarms {
  private readonly wrongSince = new Map<AlarmKey, number>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly alarms: Alarms,
    @Inject(ALARM_TIMES) private readonly times: AlarmTimes,
  ) {}

  async run(): Promise<void> {
    const counts = await this.count();
    const faulty = counts.filter(({ status }) => !acceptedStatuses.includes(status));
    this.decide(notEnabled, describeFaulty(faulty));
    const isAnyEnabled = counts.some(({ status }) => status === enabled);
    const isUnreachable = counts.some(({ status }) => unreachableStatuses.includes(status));
    this.decide(
      webhookDown,
      isUnreachable && !isAnyEnabled
        ? 'No webhook subscription works, because the platform’s messages do not reach PUBLIC_URL. Check the address and the proxy.'
        : undefined,
    );
  }

  stop(): void {
    for (const key of this.wrongSince.keys()) this.alarms.withdraw(key);
    this.wrongSince.clear();
  }

  /** Counts subscriptions by status. A new one gets time to be created, unless an attempt has failed already. */
  private count(): Promise<StatusCount[]> {
    return this.dataSource.query<StatusCount[]>(
      `SELECT status, count(*)::int AS count, min(type || ' with ' || condition::text || coalesce(': ' || reason, '')) AS example
       FROM subscriptions
       WHERE status = ANY($1) OR attempts > 0 OR status_since < now() - make_interval(secs => $2::float8 / 1000)
       GROUP BY status ORDER BY status`,
      [acceptedStatuses, this.times.holdMs],
    );
  }

  /** Raises an alarm when the fault has lasted for a while. @param message undefined: there is no fault */
  private decide(key: AlarmKey, message: string | undefined): void {
    if (message === undefined) {
      this.wrongSince.delete(key);
      this.alarms.clear(key);
      return;
    }
    const since = this.wrongSince.get(key) ?? performance.now();
    this.wrongSince.set(key, since);
    if (performance.now() >= since + this.times.holdMs) this.alarms.raise(key, message);
  }
}

function describeFaulty(faulty: readonly StatusCount[]): string | undefined {
  const [first] = faulty;
  if (!first) return undefined;
  const counts = faulty.map(({ status, count }) => `${count} ${status}`).join(', ');
  return `Subscriptions are not enabled: ${counts}. For example, ${first.example}. See GET /api/v1/platform/subscriptions.`;
}

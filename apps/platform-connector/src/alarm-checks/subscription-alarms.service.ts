import { Inject, Injectable } from '@nestjs/common';
import type { AlarmKind } from '@stream-events/contracts';
import { Alarms } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ALARM_TIMES, type AlarmTimes } from '../alarms/alarm-times.js';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import {
  enabled,
  limitReached,
  notGranted,
  provenAfterMs,
  verificationFailed,
  waiting,
} from '../subscriptions/own-subscription.js';
import { HeldAlarms } from './held-alarms.js';

// Statuses that raise no alarm. The streamer monitor polls streamers over the limit, and only a user can give missing consent. The API
// shows both statuses.
const acceptedStatuses = [enabled, limitReached, notGranted];
const unreachableStatuses = [verificationFailed, 'notification_failures_exceeded'];
// How many times in a row a subscription may be lost before it is faulty although it is enabled at the moment. A single loss can have many
// causes, but a third one in a row shows that something removes the subscription again and again.
const maxLosses = 2;
const webhookDown = 'transport_down:webhook';
const notEnabled = 'subscription_not_enabled';
// While one of these alarms is open, it explains why the service cannot create subscriptions.
const explanations: readonly AlarmKind[] = ['transport_down', 'platform_unavailable'];

interface StatusCount {
  status: string;
  count: number;
  /** The number of faulty subscriptions, and the description of one of them. */
  faulty: number;
  example: string | null;
}

/** Checks that the subscriptions are enabled, and that the platform can reach the webhook callback. */
@Injectable()
export class SubscriptionAlarms {
  private readonly held: HeldAlarms;

  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: AlarmsRepository,
    alarms: Alarms,
    @Inject(ALARM_TIMES) private readonly times: AlarmTimes,
  ) {
    this.held = new HeldAlarms(alarms, times);
  }

  async run(): Promise<void> {
    const counts = await this.count();
    const webhookFault = describeWebhookFault(counts);
    this.held.decide(webhookDown, webhookFault);
    const fault = describeFaulty(counts);
    // Raise no second alarm when another alarm explains the fault.
    if (fault !== undefined && (webhookFault !== undefined || (await this.isExplained())))
      this.held.restart(notEnabled);
    else this.held.decide(notEnabled, fault);
  }

  stop(): void {
    this.held.stop();
  }

  private async isExplained(): Promise<boolean> {
    return (await this.repository.listOpen()).some(({ kind }) => explanations.includes(kind));
  }

  /**
   * Counts subscriptions by status. An enabled subscription is faulty if it was lost three times in a row and has not worked for 10 min
   * since. A subscription without an accepted status is faulty in two cases:
   *
   * - At least two attempts in a row have failed.
   * - It has had its status for 45 s, and the reconciler has no work left or makes no progress.
   *
   * While the reconciler creates thousands of subscriptions, each can wait for minutes without being faulty.
   */
  private count(): Promise<StatusCount[]> {
    return this.dataSource.query<StatusCount[]>(
      `WITH work AS (
         SELECT completed_at, (SELECT max(updated_at) FROM subscriptions WHERE status <> $2) > now() - 2 * hold AS is_progressing, hold
         FROM reconciliation, make_interval(secs => $3::float8 / 1000) AS hold
       ), judged AS (
         SELECT status, type || coalesce(' with ' || (
             SELECT string_agg(key || ' ' || value, ', ') FROM jsonb_each_text(condition)
           ), '') || coalesce(': ' || reason, '') AS description,
           status <> ALL($1) AND (attempts > 1 OR (
             status_since < now() - 1.5 * hold AND NOT (coalesce(is_progressing, false) AND coalesce(completed_at < status_since, true))
           )) OR (status = $4 AND attempts > $5 AND status_since > now() - make_interval(secs => $6::float8 / 1000)) AS is_faulty
         FROM subscriptions, work
       )
       SELECT status, count(*)::int AS count, count(*) FILTER (WHERE is_faulty)::int AS faulty,
              min(description) FILTER (WHERE is_faulty) AS example
       FROM judged GROUP BY status ORDER BY status`,
      [acceptedStatuses, waiting, this.times.holdMs, enabled, maxLosses, provenAfterMs],
    );
  }
}

function describeWebhookFault(counts: readonly StatusCount[]): string | undefined {
  const isUnreachable = counts.some(({ status }) => unreachableStatuses.includes(status));
  if (!isUnreachable || counts.some(({ status }) => status === enabled)) return undefined;
  return 'No webhook subscription works, because the platform’s messages do not reach PUBLIC_URL. Check the address and the proxy.';
}

function describeFaulty(counts: readonly StatusCount[]): string | undefined {
  const faulty = counts.filter(({ example }) => example !== null);
  const [first] = faulty;
  if (!first) return undefined;
  const numbers = faulty
    .map(({ status, faulty: number }) => `${number} ${status === enabled ? 'lost again and again' : status}`)
    .join(', ');
  return `Subscriptions are not enabled: ${numbers}. For example, ${first.example?.replace(/\.$/, '')}. See GET /api/v1/platform/subscriptions.`;
}

import { counter, declareMetrics, gauge, histogram } from '@stream-events/service';

/** All metrics of the platform connector. `npm run generate` lists them in docs/metrics.md. */
export const connectorMetrics = declareMetrics({
  alarm_posts_total: counter(
    'Attempts to post an alarm to ALERT_WEBHOOK_URL, by result: posted, failed (retried later), or given_up',
    ['result'],
  ),
  alarms_open: gauge('Open alarms, by kind; every instance reports the same values', ['kind']),
  platform_conduit_shards: gauge(
    'Shards of the conduit by state: enabled, connecting, lost, or foreign (connected to another installation); every instance reports the same values',
    ['state'],
  ),
  platform_connector_budget_calls: gauge(
    'Calls left under the platform’s rate limit; every instance reports the same value',
  ),
  platform_connector_budget_capacity_calls: gauge(
    'Calls per minute that the platform’s rate limit allows; every instance reports the same value',
  ),
  platform_connector_call_seconds: histogram(
    'Duration of calls to the platform, successful or not',
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ['endpoint'],
  ),
  platform_connector_calls_total: counter('Calls to the platform, by endpoint and result', [
    'endpoint',
    'result',
  ]),
  platform_connector_calls_waiting: gauge(
    'Calls to the platform that wait for a free slot of this process, by priority',
    ['priority'],
  ),
  platform_connector_circuit_open: gauge(
    '1 while this process only probes the platform, after 5 failures in a row, else 0',
  ),
  platform_connector_delivery_gaps_total: counter(
    'Periods in which messages over a socket may be missing, by transport',
    ['transport'],
  ),
  platform_connector_messages_lost_total: counter(
    'Messages that arrived over a socket and could not be stored, by transport',
    ['transport'],
  ),
  platform_connector_socket_messages_total: counter('Messages received over sockets, by result', ['result']),
  platform_connector_socket_messages_waiting: gauge('Messages received over sockets that are not stored yet'),
  platform_connector_user_sockets: gauge(
    'Event sockets of users that this process holds, by whether they are connected',
    ['connected'],
  ),
  platform_subscription_actions_total: counter(
    'Subscription actions on the platform and received revocations, by result',
    ['action', 'result'],
  ),
  platform_subscriptions: gauge('Subscriptions by status; every instance reports the same values', [
    'status',
  ]),
  platform_subscriptions_reconciled_timestamp_seconds: gauge(
    'Time of the last round that left nothing to reconcile; every instance reports the same value',
  ),
  platform_transport_subscriptions: gauge(
    'Working subscriptions by transport: webhook, conduit, or websocket; every instance reports the same values',
    ['transport'],
  ),
  platform_webhook_secret_subscriptions: gauge(
    'Working subscriptions by the webhook secret that signs their messages: the first secret in PLATFORM_WEBHOOK_SECRET, another secret in it, or a removed secret; every instance reports the same values',
    ['secret'],
  ),
});

import {
  counter,
  declareMetrics,
  durationBuckets,
  gauge,
  histogram,
  lagBuckets,
} from '@stream-events/service';

/** All metrics of the gateway. `npm run generate` lists them in docs/metrics.md. */
export const gatewayMetrics = declareMetrics({
  gateway_audit_entries_lost_total: counter(
    'Audit log entries that could not be written; the error log contains them',
  ),
  gateway_client_share_used_ratio: gauge(
    'Used fraction of the share of the EVENTS stream that is available to client events, from 0 to 1',
  ),
  gateway_disk_free_bytes: gauge(
    'Free space on the disk of DATA_DIR; NaN when the gateway does not check the disk',
  ),
  gateway_disk_low: gauge(
    '1 while the free disk space is below MIN_FREE_DISK_MB and the gateway rejects client writes; otherwise 0',
  ),
  gateway_exported_events_total: counter('Events that were sent in exports'),
  gateway_exports: gauge('Running exports'),
  gateway_storage_refusals_total: counter(
    'Client events refused because they would exceed the daily limit of a user, or the limit of all users on the EVENTS stream',
    ['limit'],
  ),
  gateway_webhook_messages_total: counter('Messages received at the platform’s webhook callback, by result', [
    'result',
  ]),
  http_request_duration_seconds: histogram(
    'Time from the headers of a request to the end of its response; excludes routes whose responses stay open',
    durationBuckets,
    ['method', 'route'],
  ),
  http_requests_total: counter(
    'HTTP requests to the public API, by method, route, and response status; 499: client disconnected before the response began',
    ['method', 'route', 'status'],
  ),
  live_catch_ups: gauge(
    'Live connections that read older events from the EVENTS stream, or wait for their turn to do so',
    ['state'],
  ),
  live_connections: gauge('Open live connections'),
  live_connections_closed_total: counter(
    'Live connections that ended, by reason; left: closed by the client',
    ['reason'],
  ),
  live_delivery_lag_seconds: histogram(
    'Time from the receipt of the oldest event of an event-loop turn until it was written to the sockets of live clients',
    lagBuckets,
  ),
  live_events_delivered_total: counter('Events that were sent live, counted once per client'),
  live_feed_in_doubt: gauge(
    '1 while live delivery cannot read the EVENTS stream, or the stream has lost its tail; otherwise 0',
  ),
  live_feed_interruptions_total: counter(
    'Interruptions, by reason: the EVENTS stream did not continue after the last event read, so live clients got a gap',
    ['reason'],
  ),
  live_feed_lag_messages: gauge(
    'Messages on the EVENTS stream that live delivery had not read at the last check',
  ),
  live_feed_messages_total: counter('Messages of the EVENTS stream that live delivery has read'),
  live_history_pages_total: counter(
    'Pages of older events for live clients, by source: read from the stream, or shared from memory',
    ['source'],
  ),
  live_replays_total: counter(
    'Replayed events, counted once per client: sent, or dropped because the client was too slow',
    ['result'],
  ),
  live_slowest_connection_lag_events: gauge(
    'Number of events that the slowest live connection is behind the stream',
  ),
  live_slowest_connection_unread_bytes: gauge(
    'Bytes that the slowest live client has not read yet. Above a limit (1 MiB for a WebSocket), the gateway closes the connection if the client reads nothing for 10 s',
  ),
});

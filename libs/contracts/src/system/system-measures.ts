/** Measures of instances by name, with their descriptions in the API. Each name ends with the unit. */
export const systemMeasures = {
  memory_bytes: 'Resident memory of the process',
  webhook_messages_per_second: 'gateway: messages received at the platform’s webhook callback',
  ingest_waiting_events: 'gateway: events that wait to be stored',
  live_connections: 'gateway: open live connections',
  live_events_delivered_per_second: 'gateway: events sent live, counted once per client',
  live_feed_lag_messages: 'gateway: messages on the EVENTS stream that live delivery has not read',
  disk_free_bytes: 'gateway: free space on the disk of DATA_DIR',
  events_stored_per_second: 'events: events stored',
  events_published_per_second: 'events: events published on the EVENTS stream',
  outbox_batches: 'events: stored batches that are not published yet',
  outbox_overdue_seconds:
    'events: how long the oldest unpublished batch has been waiting for any instance to publish it',
  ingest_stream_messages: 'events: accepted messages on the INGEST stream that are not stored yet',
  dead_letters: 'events: dead letters that wait for a decision by an owner',
  database_bytes: 'events: size of the database',
  events_stream_bytes: 'events: size of the EVENTS stream',
  ingest_stream_bytes: 'events: size of the INGEST stream',
  retention_days: 'events: number of days that events are kept; 0 means forever',
  retention_overdue_seconds: 'events: how long the oldest events have been due for removal',
  poll_lag_seconds: 'streamer-monitor: how long the most overdue streamer has waited for a poll',
  stream_events_waiting:
    'streamer-monitor: `stream-online` and `stream-offline` events that the service has not read yet',
  streams_running: 'streamer-monitor: running streams',
  platform_calls_per_second: 'platform-connector: calls to the platform',
  platform_budget_calls: 'platform-connector: calls left within the platform’s rate limit',
  subscriptions_enabled: 'platform-connector: enabled subscriptions',
} as const;

/** Name of a measure. */
export type SystemMeasure = keyof typeof systemMeasures;

/** Measures of instances by name, with their descriptions in the API. Each name ends with the unit. */
export const systemMeasures = {
  webhook_messages_per_second: 'gateway: messages received at the platform’s webhook callback',
  events_stored_per_second: 'events: events stored',
  live_events_delivered_per_second: 'gateway: events sent live, counted once per client',
  live_connections: 'gateway: open live connections',
  outbox_overdue_seconds:
    'events: how long the oldest unpublished batch has been waiting for any instance to publish it',
  platform_budget_calls: 'platform-connector: calls left within the platform’s rate limit',
  memory_bytes: 'Resident memory of the process',
  disk_free_bytes: 'gateway: free space on the disk of DATA_DIR',
} as const;

/** Name of a measure. */
export type SystemMeasure = keyof typeof systemMeasures;

/** Names of the values in a report: the measures, and the sizes of the stored data, which are the same in all events services. */
export type ReportedMeasure =
  SystemMeasure | 'database_bytes' | 'events_stream_bytes' | 'ingest_stream_bytes';

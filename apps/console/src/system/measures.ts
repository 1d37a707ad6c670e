import { printBytes, printDuration, printNumber } from '../kit/print-number.js';

/** Titles by measure. The end of a measure's name shows the unit of its value. */
const titles: Record<string, string> = {
  memory_bytes: 'Memory',
  webhook_messages_per_second: 'Webhook messages',
  ingest_waiting_events: 'Events waiting to be stored',
  live_connections: 'Live connections',
  live_events_delivered_per_second: 'Events delivered live',
  live_feed_lag_messages: 'Messages not yet read for live delivery',
  disk_free_bytes: 'Free disk space',
  events_stored_per_second: 'Events stored',
  events_published_per_second: 'Events published',
  outbox_batches: 'Batches to publish',
  outbox_overdue_seconds: 'Publishing is behind by',
  ingest_stream_messages: 'Messages on the INGEST stream',
  dead_letters: 'Dead letters',
  database_bytes: 'Database',
  events_stream_bytes: 'EVENTS stream',
  ingest_stream_bytes: 'INGEST stream',
  retention_days: 'Days that events are kept (0: forever)',
  retention_overdue_seconds: 'Removal of old events is behind by',
  poll_lag_seconds: 'Polling is behind by',
  stream_events_waiting: 'Stream events not yet read',
  streams_running: 'Running streams',
  platform_calls_per_second: 'Calls to the platform',
  platform_budget_calls: 'Calls left in the rate limit',
  subscriptions_enabled: 'Enabled subscriptions',
};

/** Newer services can have measures without a title here. */
export function titleOfMeasure(name: string): string {
  return titles[name] ?? name.replaceAll('_', ' ');
}

/** Formats a measure's value with its unit. */
export function printMeasure(name: string, value: number): string {
  if (name.endsWith('_bytes')) return printBytes(value);
  if (name.endsWith('_per_second')) return `${printNumber(value)} /s`;
  if (name.endsWith('_seconds')) return printDuration(value);
  return printNumber(value);
}

import { counter, declareMetrics, durationBuckets, gauge, histogram } from '@stream-events/service';

/** All metrics of this library. `npm run generate` lists them in docs/metrics.md. */
export const ingestMetrics = declareMetrics({
  ingest_batch_duration_seconds: histogram('Time to store a batch of events, with retries', durationBuckets, [
    'app',
  ]),
  ingest_batch_events: histogram(
    'Events per batch sent to the events service',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
    ['app'],
  ),
  ingest_degraded: gauge(
    '1 while the events service is unavailable and new events are rejected or diverted immediately; otherwise 0',
    ['app'],
  ),
  ingest_events_total: counter(
    'Received events by transport (api, webhook, conduit, websocket) and outcome: stored, known, dead_lettered, deferred (on the INGEST stream), unavailable, or failed',
    ['app', 'transport', 'outcome'],
  ),
  ingest_fallback_in_use: gauge(
    '1 while platform messages go to the INGEST stream because the event store is unavailable, and for up to 5 minutes after the last such message; otherwise 0',
    ['app'],
  ),
  ingest_waiting_events: gauge(
    'Events waiting to be sent to the events service; more than 4,096 are rejected',
    ['app'],
  ),
});

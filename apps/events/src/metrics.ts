import {
  counter,
  declareMetrics,
  durationBuckets,
  gauge,
  histogram,
  lagBuckets,
} from '@stream-events/service';

/** All metrics of the events service. `npm run generate` lists them in docs/metrics.md. */
export const eventsMetrics = declareMetrics({
  events_database_bytes: gauge(
    'Size of the database, including other schemas in it; every instance reports the same value',
  ),
  events_dead_letter_retries_total: counter(
    'Retried dead letters by outcome; events_ingest_total counts each event only when it is received',
    ['outcome'],
  ),
  events_dead_letters: gauge('Dead letters waiting for an owner; every instance reports the same value'),
  events_index_steps_remaining: gauge('Steps until the indexes of stored events are complete'),
  events_ingest_batch_duration_seconds: histogram(
    'Time to store a batch in the database, including its commit',
    durationBuckets,
  ),
  events_ingest_batch_events: histogram(
    'Events per batch that the events service received',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  ),
  events_ingest_drained_total: counter(
    'Messages of the INGEST stream that were stored, recognized as already stored, or kept as dead letters',
  ),
  events_ingest_stream_bytes: gauge('Size of the INGEST stream; every instance reports the same value'),
  events_ingest_stream_messages: gauge(
    'Accepted messages on the INGEST stream that are not stored yet; every instance reports the same value',
  ),
  events_ingest_total: counter(
    'Received events by outcome: stored, known (received before), or dead_lettered (rejected or expired)',
    ['outcome'],
  ),
  events_outbox_batches: gauge('Stored batches that the EVENTS stream has not acknowledged yet'),
  events_outbox_overdue_seconds: gauge(
    'Seconds since the oldest outbox batch became claimable; more than a few seconds means that publishing fails',
  ),
  events_publish_failures_total: counter(
    'Failed attempts to publish a batch; the batch stays in the outbox and is retried',
  ),
  events_publish_lag_seconds: histogram(
    'Time from the receipt of the oldest event of a batch until the EVENTS stream acknowledged the batch',
    lagBuckets,
  ),
  events_published_total: counter('Events that the EVENTS stream acknowledged'),
  events_relay_batches: gauge(
    'Batches that this instance publishes, by state: waiting in memory, or in_flight to the EVENTS stream',
    ['state'],
  ),
  events_retention_days: gauge('Days for which events are kept; 0 means forever'),
  events_retention_overdue_seconds: gauge(
    'Seconds for which the oldest partition has been due for removal; more than an hour means that removing fails',
  ),
  events_retention_partitions_total: counter('Expired partitions that were dropped'),
  events_retention_rows_total: counter(
    'Expired events that were deleted one by one from a partition that is still in use',
  ),
  events_store_lag_seconds: histogram(
    'Time from the receipt of the oldest event of a batch until the batch was committed; events that waited on the INGEST stream count too',
    lagBuckets,
  ),
  events_stream_bytes: gauge('Size of the EVENTS stream; every instance reports the same value'),
  events_stream_epochs_total: counter(
    'New epochs of the EVENTS stream, by reason: the stream is a different one (new), or it lost acknowledged events (lost_tail)',
    ['reason'],
  ),
});

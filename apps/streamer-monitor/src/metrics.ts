import { counter, declareMetrics, gauge } from '@stream-events/service';

/** All metrics of the streamer monitor. `npm run generate` lists them in docs/metrics.md. */
export const monitorMetrics = declareMetrics({
  streamer_monitor_events_total: counter(
    'Attempts to record a stream-online or stream-offline event, by event type and outcome: applied, ignored, unreadable (discarded), or failed (retried later)',
    ['event_type', 'outcome'],
  ),
  streamer_monitor_events_waiting: gauge(
    'Stream events on the EVENTS stream that are not read yet; every instance reports the same value',
  ),
  streamer_monitor_poll_batches_total: counter(
    'Look-ups of up to 100 streamers on the platform, by outcome',
    ['outcome'],
  ),
  streamer_monitor_poll_lag_seconds: gauge(
    'Seconds that the most overdue streamer has been waiting for a poll; every instance reports the same value',
  ),
  streamer_monitor_polling_passes_total: counter(
    'Polling passes of this instance: times that it polled until no streamer was due',
  ),
  streamer_monitor_polls_absent_total: counter('Polls that did not find the streamer live'),
  streamer_monitor_polls_changed_total: counter(
    'Polls that were not routine, and were therefore handled one by one',
  ),
  streamer_monitor_polls_claimed_total: counter('Streamers claimed for polling'),
  streamer_monitor_streams_running: gauge('Running streams; every instance reports the same value'),
});

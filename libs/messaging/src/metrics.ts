import { counter, declareMetrics, durationBuckets, gauge, histogram } from '@stream-events/service';

/** All metrics of this library. `npm run generate` lists them in docs/metrics.md. */
export const messagingMetrics = declareMetrics({
  nats_handled_request_duration_seconds: histogram(
    'Time from the arrival of a request from another service until its reply, by subject',
    durationBuckets,
    ['app', 'subject'],
  ),
  nats_handled_requests_in_progress: gauge(
    'Requests from other services that are in progress, by subject; more than 256 are rejected',
    ['app', 'subject'],
  ),
  nats_handled_requests_total: counter(
    'Handled requests from other services, by subject and result: ok, or the code of the error',
    ['app', 'subject', 'result'],
  ),
  nats_sent_requests_total: counter(
    'Requests to other services, by subject and result: ok, timeout, no_service, or the code of the error',
    ['app', 'subject', 'result'],
  ),
  nats_sent_requests_waiting: gauge(
    'Requests to other services that wait for a reply, by subject; more than 1,024 are rejected',
    ['app', 'subject'],
  ),
  stream_consumer_handling_duration_seconds: histogram(
    'Time to handle a message of a durable consumer, or a batch of messages',
    durationBuckets,
    ['stream', 'consumer'],
  ),
  stream_consumer_messages_total: counter(
    'Messages that a durable consumer handled, by outcome: done, discard (never delivered again), or retry (delivered again later)',
    ['stream', 'consumer', 'outcome'],
  ),
});

import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { consumerCreation, durableConsumers, eventsStreamName } from '@stream-events/contracts';
import { within, type FailureLog } from '@stream-events/service';
import { isStreamNotFound } from './stream-not-found.js';

/** The connections and the limit of a consumer gate. */
export interface ConsumerGateOptions {
  /** The connection to the services' account, where subscribers' requests arrive. */
  services: NatsConnection;
  /** The connection to the account EVENTS, with all permissions there. */
  events: NatsConnection;
  log: FailureLog;
  /**
   * How many consumers subscribers may have in total; 500 by default. Enough for a client that restarts every second and each time leaves
   * an ephemeral consumer, which expires after 5 minutes.
   */
  maxConsumers?: number;
}

/** The error in a JetStream API reply. */
interface ApiError {
  code: number;
  err_code: number;
  description: string;
}

const defaultMaxConsumers = 500;
// Maximum number of waiting requests, which are handled one by one. In a longer queue, the last client would time out.
const maxWaiting = 256;
const maxPayloadBytes = 16_384;
const apiTimeoutMs = 4_000;
const stopLimitMs = 1_000;
/**
 * Maximum age of the consumer count, in milliseconds. Counting is expensive: the broker sends up to 256 consumer configurations at a time.
 */
const maxCountAgeMs = 1_000;

/** Marks consumers of subscribers: their description begins with this prefix. The gate adds it, so a subscriber cannot avoid it. */
export const subscriberMark = 'subscriber';

/**
 * The fields of a pull consumer's configuration that the gate forwards. A list of forbidden fields would not be safe, because the broker
 * ignores the case of field names.
 */
const allowedFields = [
  ...['durable_name', 'name', 'description', 'metadata', 'inactive_threshold', 'mem_storage', 'num_replicas'],
  ...[
    'deliver_policy',
    'opt_start_seq',
    'opt_start_time',
    'filter_subject',
    'filter_subjects',
    'replay_policy',
  ],
  ...['ack_policy', 'ack_wait', 'max_deliver', 'backoff', 'max_ack_pending', 'headers_only', 'sample_freq'],
  ...['max_waiting', 'max_batch', 'max_expires', 'max_bytes'],
  ...['pause_until', 'priority_groups', 'priority_policy', 'priority_timeout'],
];

/**
 * Creates subscribers' consumers on the EVENTS stream. NATS routes these requests of the user `subscriber` to the events service instead of
 * JetStream. The gate refuses malformed requests, push consumers, the names of our own consumers, and any new consumer beyond
 * `maxConsumers`. The gate forwards all other requests, with only the allowed fields.
 *
 * ```
 *  subscriber ── $JS.API.CONSUMER.CREATE.EVENTS.<name> ──▶ gate ── the same request, checked ──▶ JetStream
 * ```
 *
 * Several instances share the requests. Each one counts all consumers at most a second before it decides, and adds those that it has
 * created since. Together, the instances can therefore exceed the limit by the consumers that the others create within that second.
 */
export class ConsumerGate {
  private readonly subscriptions: Subscription[] = [];
  private manager: JetStreamManager | undefined;
  private queue: Promise<void> = Promise.resolve();
  private waiting = 0;
  private known = new Set<string>();
  private countedAt = -Infinity;

  constructor(private readonly options: ConsumerGateOptions) {}

  start(): void {
    for (const { api, gate } of consumerCreation)
      this.subscriptions.push(
        this.options.services.subscribe(`${gate}.>`, {
          queue: 'events',
          callback: (err, message) => {
            if (err)
              this.options.log.warn(
                'cannot receive consumer requests from subscribers. Check the NATS permissions of the service, then restart the service',
                { err },
              );
            else this.enqueue(message, api, message.subject.slice(gate.length + 1));
          },
        }),
      );
  }

  /** Stops taking requests, and finishes those that have arrived, waiting up to 1 s for each step. */
  async stop(): Promise<void> {
    const drained = Promise.all(this.subscriptions.splice(0).map((subscription) => subscription.drain()));
    await within(stopLimitMs, drained);
    await within(stopLimitMs, this.queue);
  }

  private enqueue(message: Msg, api: string, target: string): void {
    if (this.waiting >= maxWaiting) {
      refuse(message, unavailable('too many requests to create consumers; try again'));
      return;
    }
    this.waiting += 1;
    this.queue = this.queue
      .then(() => this.handle(message, api, target))
      .catch((err: unknown) => {
        this.options.log.warn('cannot create a consumer for a subscriber, replying with an error', { err });
        refuse(message, unavailable('JetStream did not reply'));
      })
      .finally(() => {
        this.waiting -= 1;
      });
  }

  /** @param target the consumer's name; for a request with a filter, followed by a dot and the filter */
  private async handle(message: Msg, api: string, target: string): Promise<void> {
    const name = target.split('.', 1)[0] ?? '';
    const request = readRequest(message, name);
    const fault = 'fault' in request ? request.fault : await this.findExcess(name);
    if (fault !== undefined) {
      this.options.log.warn('refused to create a consumer for a subscriber', {
        consumer: name,
        reason: fault.description,
      });
      refuse(message, fault);
      return;
    }
    if ('fault' in request) return;
    const payload = JSON.stringify(request.forwarded);
    const reply = await this.options.events.request(`${api}.${target}`, payload, { timeout: apiTimeoutMs });
    if (parseObject(reply.string())?.error === undefined) this.known.add(name);
    message.respond(reply.data);
  }

  private async findExcess(name: string): Promise<ApiError | undefined> {
    const { maxConsumers = defaultMaxConsumers } = this.options;
    if (performance.now() > this.countedAt + maxCountAgeMs) await this.count();
    if (this.known.has(name) || this.known.size < maxConsumers) return undefined;
    // Clients know this code, which JetStream uses when an account has reached its limit.
    const description = `maximum consumers limit reached: subscribers have ${maxConsumers} consumers. Give consumers an inactive_threshold, so that unused consumers expire`;
    return { code: 400, err_code: 10_026, description };
  }

  private async count(): Promise<void> {
    const startedAt = performance.now();
    const known = new Set<string>();
    this.manager ??= await jetstreamManager(this.options.events, { checkAPI: false, timeout: apiTimeoutMs });
    try {
      for await (const { name, config } of this.manager.consumers.list(eventsStreamName))
        if (config.description?.startsWith(subscriberMark)) known.add(name);
    } catch (error) {
      // Ignore a missing stream: JetStream's reply tells the client.
      if (!isStreamNotFound(error)) throw error;
    }
    this.known = known;
    this.countedAt = startedAt;
  }
}

/** Checks a request, and returns the version to forward. */
function readRequest(message: Msg, name: string): { forwarded: object } | { fault: ApiError } {
  if (message.data.length > maxPayloadBytes) return { fault: invalid('the request is too large') };
  const body = parseObject(message.string());
  const config = body && asObject(body.config);
  if (!config) return { fault: invalid('the request has no consumer configuration') };
  for (const [field, value] of Object.entries(config))
    if (/^deliver_(subject|group)$/i.test(field) && value !== '' && value !== null)
      return {
        fault: invalid('push consumers are not available. Create a pull consumer, without deliver_subject'),
      };
  const ours = Object.keys(durableConsumers);
  if (ours.includes(name))
    return { fault: invalid(`the name ${name} is reserved for a consumer of the service`) };
  if ([config.durable_name, config.name].some((given) => given !== undefined && given !== name))
    return { fault: invalid('the name in the configuration must be the name in the subject') };
  const kept = Object.fromEntries(Object.entries(config).filter(([field]) => allowedFields.includes(field)));
  const description = typeof config.description === 'string' ? `: ${config.description}` : '';
  return {
    forwarded: {
      stream_name: eventsStreamName,
      config: { ...kept, description: subscriberMark + description },
      ...(typeof body.action === 'string' && { action: body.action }),
    },
  };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    // `readRequest` then reports that the request has no consumer configuration.
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  // Safe cast: a non-null object that is not an array has fields.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function invalid(description: string): ApiError {
  return { code: 400, err_code: 10_025, description };
}

function unavailable(description: string): ApiError {
  return { code: 503, err_code: 10_008, description };
}

function refuse(message: Msg, error: ApiError): void {
  message.respond(JSON.stringify({ type: 'io.nats.jetstream.api.v1.consumer_create_response', error }));
}

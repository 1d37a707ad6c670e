import { setTimeout as wait } from 'node:timers/promises';
import { ServerNats, type MessageHandler, type NatsContext } from '@nestjs/microservices';
import { errorCatalogue, ServiceError, type Contract } from '@stream-events/contracts';
import { within, type Registry } from '@stream-events/service';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node';
import { logConnection } from './connection-watch.js';
import { closeNats, connectNats, natsConnectionOptions, type NatsOptions } from './connection.js';
import { HandledRequests } from './message-metrics.js';
import { traceHandling, type MessageSpans } from './message-traces.js';
import { acceptRawHeader, rawReplyHeaders, RequestDeserializer } from './raw-messages.js';

/** The contracts that a service handles, and how the service connects. */
export interface NatsServerOptions extends NatsOptions {
  /** The queue group: the instances of a service share its requests. */
  queue: string;
  /** Every contract that this service handles. */
  contracts: readonly Contract<object, object>[];
  /** The registry for the metrics that count requests, with the queue group as the label `app`. */
  metrics?: Registry;
}

// After SIGTERM, requests in flight have this much time to finish. After this time, the service abandons them.
const drainLimitMs = 15_000;

/**
 * Maximum number of concurrent requests per contract and instance. A service has ten database connections, and a request takes
 * milliseconds: a request that waits behind 256 others would exceed its caller's time limit (2 s or more). A request takes up to 1 MiB of
 * memory, so 256 write requests take up to 256 MiB.
 */
export const maxRequestsInProgress = 256;

type HandleRequestParameters = Parameters<ServerNats['handleRequest']>;

/** What Nest sends as a reply. */
interface ReplyPacket {
  response?: object;
  err?: unknown;
}

type Publish = (packet: ReplyPacket) => unknown;
type Respond = HandleRequestParameters[2];

const tooBusy = new ServiceError(
  'unavailable',
  'The service is overloaded. Retry after the time in `Retry-After`.',
  {
    retryAfterSeconds: 1,
  },
);

/**
 * Nest's NATS server with four additions. It refuses to start when a contract has no handler or two handlers. It loses no request when it
 * stops: first the subscriptions drain (the broker sends new requests to other instances), then the requests in flight finish, then the
 * connection drains. When `maxRequestsInProgress` requests of a contract are in progress, it immediately rejects further requests of this
 * contract as `unavailable`, so that a flood of list requests does not block writes. It reads and sends the raw messages of contracts with
 * a raw format.
 */
export class NatsServerStrategy extends ServerNats {
  /** How many requests are in progress, by subject. */
  private readonly inProgress = new Map<string, number>();
  private readonly contracts: ReadonlyMap<string, Contract<object, object>>;
  private readonly drainable: Subscription[] = [];
  private connection: NatsConnection | undefined;
  /** The spans of the requests in progress that are part of sampled traces. */
  private readonly spans = new WeakMap<object, MessageSpans>();
  private readonly handledTwice = new Set<string>();
  private readonly handled: HandledRequests | undefined;

  constructor(private readonly serving: NatsServerOptions) {
    super({
      ...natsConnectionOptions(serving),
      queue: serving.queue,
      deserializer: new RequestDeserializer(serving.contracts),
    });
    this.contracts = new Map(serving.contracts.map((contract) => [contract.subject, contract]));
    const { metrics, queue } = serving;
    this.handled = metrics && new HandledRequests(metrics, queue, () => this.inProgress);
    // Return Nest's promise, although the type says void: Nest awaits it, and must see a failure.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    this.setOnProcessingStartHook((_transport, context, done) => {
      this.count(context, 1);
      return done();
    });
    this.setOnProcessingEndHook((_transport, context) => {
      this.count(context, -1);
      if (serving.tracing) this.spans.get(context as NatsContext)?.end(); // Safe cast: the transport is NATS.
    });
  }

  override addHandler(
    pattern: unknown,
    callback: MessageHandler,
    isEventHandler = false,
    extras: Record<string, unknown> = {},
  ): void {
    if (typeof pattern === 'string' && this.messageHandlers.has(pattern)) this.handledTwice.add(pattern);
    super.addHandler(pattern, callback, isEventHandler, extras);
  }

  override async listen(callback: (error?: unknown, ...optional: unknown[]) => void): Promise<void> {
    const faults = this.findContractFaults();
    if (faults.length > 0) {
      callback(
        new Error(`the handlers of ${this.serving.name} do not match its contracts: ${faults.join('; ')}`),
      );
      return;
    }
    await super.listen(callback);
  }

  override async createNatsClient(): Promise<NatsConnection> {
    this.connection = await connectNats(this.serving);
    return this.connection;
  }

  override bindEvents(client: NatsConnection): void {
    // Nest's list of subscriptions is private, so record the subscriptions here, to drain them later.
    const subscribe: NatsConnection['subscribe'] = (subject, options) => {
      const subscription = client.subscribe(subject, options);
      this.drainable.push(subscription);
      return subscription;
    };
    super.bindEvents({ subscribe });
  }

  override getPublisher(message: Msg, ...rest: [id: string, context: NatsContext]): Publish {
    const publishJson = super.getPublisher(message, ...rest) as Publish;
    const format = this.contracts.get(message.subject)?.rawReply;
    if (!format || !message.headers?.has(acceptRawHeader)) return publishJson;
    return (packet) =>
      packet.err == null && packet.response
        ? message.respond(format.print(packet.response), { headers: rawReplyHeaders() })
        : publishJson(packet);
  }

  override async handleStatusUpdates(client: NatsConnection): Promise<void> {
    logConnection(client, this.logger);
    await client.closed();
  }

  override async close(): Promise<void> {
    if (this.connection) await this.drain(this.connection);
    await super.close();
  }

  /** Replaces Nest's lookup, which first parses the subject as JSON, and so throws and catches an error for each request. */
  override getHandlerByPattern(subject: string): MessageHandler | null {
    return this.messageHandlers.get(subject) ?? null;
  }

  // The start hook cannot reply, so check the limit here. The hook counts the request during this call, so the limit is never exceeded.
  protected override handleRequest(...[context, produce, respond]: HandleRequestParameters): void {
    const subject = subjectOf(context);
    const inProgress = this.inProgress.get(subject) ?? 0;
    const noteAndRespond = this.noting(subject, respond);
    // Return Nest's promise, although the type says void: Nest logs its failure.
    if (inProgress < maxRequestsInProgress) {
      this.trace(context);
      return super.handleRequest(context, produce, noteAndRespond);
    }
    void noteAndRespond({ err: tooBusy.toMessage(), isDisposed: true });
  }

  private noting(subject: string, respond: Respond): Respond {
    const { handled } = this;
    if (!handled) return respond;
    const startedAt = performance.now();
    return (packet) => {
      handled.note(subject, resultOf(packet), startedAt);
      return respond(packet);
    };
  }

  /** @throws when NATS does not reply */
  async ping(): Promise<void> {
    await this.unwrap<NatsConnection>().flush();
  }

  private trace(context: HandleRequestParameters[0]): void {
    const { tracing } = this.serving;
    if (!tracing) return;
    const natsContext = context as NatsContext; // Safe cast: the transport is NATS.
    const messageHeaders = natsContext.getHeaders() as MsgHdrs | undefined; // Safe cast: the NATS transport passes the message's headers.
    const spans = traceHandling(tracing, natsContext.getSubject(), messageHeaders);
    if (spans) this.spans.set(natsContext, spans);
  }

  private count(context: unknown, difference: 1 | -1): void {
    const subject = subjectOf(context);
    this.inProgress.set(subject, (this.inProgress.get(subject) ?? 0) + difference);
  }

  private isBusy(): boolean {
    return [...this.inProgress.values()].some((count) => count > 0);
  }

  private async drain(connection: NatsConnection): Promise<void> {
    if (connection.isClosed()) return;
    const deadline = performance.now() + drainLimitMs;
    await within(drainLimitMs, Promise.all(this.drainable.map((subscription) => subscription.drain())));
    // Nest sends the reply only after the hook has counted the request as done, so wait at least once.
    do await wait(5);
    while (this.isBusy() && performance.now() < deadline);
    await closeNats(connection);
  }

  private findContractFaults(): string[] {
    const served = this.serving.contracts.map((contract) => contract.subject);
    const handled = [...this.messageHandlers.keys()];
    return [
      ...served.filter((subject) => !handled.includes(subject)).map((subject) => `${subject} has no handler`),
      ...handled
        .filter((subject) => !served.includes(subject))
        .map((subject) => `${subject} is not among the contracts`),
      ...[...this.handledTwice].map((subject) => `${subject} has two handlers`),
    ];
  }
}

/** `ok`, or the code of the error. An error without a known code comes from Nest, and counts as `internal`. */
function resultOf({ err }: { err?: unknown }): string {
  if (err == null) return 'ok';
  const code: unknown = typeof err === 'object' && 'code' in err ? err.code : undefined;
  return typeof code === 'string' && code in errorCatalogue ? code : 'internal';
}

function subjectOf(context: unknown): string {
  return (context as NatsContext).getSubject(); // Safe cast: the transport is NATS.
}

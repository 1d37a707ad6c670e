import { setTimeout as wait } from 'node:timers/promises';
import { ServerNats, type MessageHandler, type NatsContext } from '@nestjs/microservices';
import { errorCatalogue, isInbox, ServiceError, type Contract } from '@stream-events/contracts';
import { within, type Registry } from '@stream-events/service';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node';
import { logConnection } from './connection-watch.js';
import { closeNats, connectNats, natsConnectionOptions, type NatsOptions } from './connection.js';
import { HandledRequests } from './message-metrics.js';
import { traceHandling, type MessageSpans } from './message-traces.js';
import { rawReplyHeaders, RequestDeserializer } from './raw-messages.js';

/** Which contracts a service handles, and how it connects. */
export interface NatsServerOptions extends NatsOptions {
  /** The queue group, in which a service's instances share requests. */
  queue: string;
  /** All contracts that this service handles. */
  contracts: readonly Contract<object, object>[];
  /** Where to register the metrics that count requests; their label `app` is the queue group. */
  metrics?: Registry;
}

// How long requests in flight may take to finish after SIGTERM. The service abandons the rest.
const drainLimitMs = 15_000;

/**
 * Maximum number of requests in progress, per contract and instance. A service has about ten database connections and normally needs
 * milliseconds per request. With 256 requests in progress, it cannot keep up, and another request would probably exceed its caller's time
 * limit (2 s or more). A request takes up to 1 MiB of memory, so 256 write requests take up to 256 MiB.
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
 * Nest's NATS server with five additions:
 *
 * - The server refuses to start when a contract has no handler or two handlers, or a handler has no contract.
 * - The server loses no request when it stops: first the subscriptions drain (new requests go to other instances), then the requests in
 *   flight finish, within 15 s, and then the connection drains.
 * - While `maxRequestsInProgress` requests of a contract are in progress, the server rejects more of them as `unavailable`, so that a flood
 *   of list requests cannot block writes.
 * - The server supports contracts with raw messages.
 * - The server replies only to inboxes.
 */
export class NatsServerStrategy extends ServerNats {
  /** Requests in progress by subject. */
  private readonly inProgress = new Map<string, number>();
  private readonly contracts: ReadonlyMap<string, Contract<object, object>>;
  private readonly drainable: Subscription[] = [];
  private connection: NatsConnection | undefined;
  /** Spans of requests in progress that belong to sampled traces. */
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
    // Nest keeps its subscriptions private, so record them here to drain them later.
    const subscribe: NatsConnection['subscribe'] = (subject, options) => {
      const subscription = client.subscribe(subject, options);
      this.drainable.push(subscription);
      return subscription;
    };
    super.bindEvents({ subscribe });
  }

  /**
   * Replies only to inboxes. Any other reply subject would let the sender publish with the permissions of this service, for example on the
   * subject that purges a stream.
   */
  override getPublisher(message: Msg, ...rest: [id: string, context: NatsContext]): Publish {
    const { reply, subject } = message;
    if (reply && !isInbox(reply)) {
      this.logger.warn(`ignoring the reply subject ${reply} of a request on ${subject}: it is not an inbox`);
      return () => undefined;
    }
    const publishJson = super.getPublisher(message, ...rest) as Publish;
    const format = this.contracts.get(message.subject)?.rawReply;
    if (!format) return publishJson;
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

  /** Replaces Nest's lookup, which parses the subject as JSON and so throws and catches an error per request. */
  override getHandlerByPattern(subject: string): MessageHandler | null {
    return this.messageHandlers.get(subject) ?? null;
  }

  // Check the limit here, because the start hook cannot reply. The hook counts the request during this call, so no request can slip past
  // the limit.
  protected override handleRequest(...[context, produce, respond]: HandleRequestParameters): void {
    const subject = subjectOf(context);
    const inProgress = this.inProgress.get(subject) ?? 0;
    const noteAndRespond = this.noting(subject, respond);
    // Return Nest's promise, although the type says void, because Nest logs its failure.
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
    // Wait at least once, because Nest sends the reply only after the hook has counted the request as done.
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

/** Returns `ok` or the error's code. An error without a known code comes from Nest and counts as `internal`. */
function resultOf({ err }: { err?: unknown }): string {
  if (err == null) return 'ok';
  const code: unknown = typeof err === 'object' && 'code' in err ? err.code : undefined;
  return typeof code === 'string' && code in errorCatalogue ? code : 'internal';
}

function subjectOf(context: unknown): string {
  return (context as NatsContext).getSubject(); // Safe cast: the transport is NATS.
}

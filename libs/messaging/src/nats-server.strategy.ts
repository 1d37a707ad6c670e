import { setTimeout as wait } from 'node:timers/promises';
import { ServerNats, type MessageHandler, type NatsContext } from '@nestjs/microservices';
import { ServiceError, type Contract } from '@stream-events/contracts';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { logConnection } from './connection-watch.js';
import { closeNats, connectNats, natsConnectionOptions, within, type NatsOptions } from './connection.js';

/** What a serving strategy needs to know. */
export interface NatsServerOptions extends NatsOptions {
  /** Queue group: instances of one service share its requests. */
  queue: string;
  /** The contracts that this service answers, all of them. */
  contracts: readonly Contract<object, object>[];
}

// Requests in flight are answered within this time after SIGTERM, or cut.
const drainLimitMs = 15_000;

/**
 * The most requests of one kind that one instance works on. A service has ten connections to its database and a request
 * takes some milliseconds: what would wait behind 256 others is late for its caller's time limit (from 2 s). And a request
 * is up to 1 MiB: this many writes are 256 MiB.
 */
export const maxRequestsInProgress = 256;

type HandleRequestParameters = Parameters<ServerNats['handleRequest']>;

const tooBusy = new ServiceError(
  'unavailable',
  'The service is overloaded. Retry after the time in `Retry-After`.',
  {
    retryAfterSeconds: 1,
  },
);

/**
 * Nest's NATS server that refuses to start when a contract has no handler or two, and that loses no request when it
 * stops: subscriptions drain first (the broker sends new requests to other instances), then what is in flight is
 * answered, then the connection drains. What comes on top of `maxRequestsInProgress` of one kind is answered
 * `unavailable` at once: a flood of lists keeps no write out.
 */
export class NatsServerStrategy extends ServerNats {
  /** How many requests are in progress, by subject. */
  private readonly inProgress = new Map<string, number>();
  private readonly drainable: Subscription[] = [];
  private connection: NatsConnection | undefined;
  private readonly handledTwice = new Set<string>();

  constructor(private readonly serving: NatsServerOptions) {
    super({ ...natsConnectionOptions(serving), queue: serving.queue });
    // Nest awaits what the hook returns, though its type says nothing of it: a failure must come back to Nest.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    this.setOnProcessingStartHook((_transport, context, done) => {
      this.count(context, 1);
      return done();
    });
    this.setOnProcessingEndHook((_transport, context) => this.count(context, -1));
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
        new Error(`the contracts of ${this.serving.name} and its handlers differ: ${faults.join('; ')}`),
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
    // Nest keeps its subscriptions to itself: note them on the way, to drain them later.
    const subscribe: NatsConnection['subscribe'] = (subject, options) => {
      const subscription = client.subscribe(subject, options);
      this.drainable.push(subscription);
      return subscription;
    };
    super.bindEvents({ subscribe });
  }

  override async handleStatusUpdates(client: NatsConnection): Promise<void> {
    logConnection(client, this.logger);
    await client.closed();
  }

  override async close(): Promise<void> {
    if (this.connection) await this.drain(this.connection);
    await super.close();
  }

  // Not by the start hook: that one cannot answer. It notes the request within this very call, so none slips through.
  protected override handleRequest(...[context, produce, respond]: HandleRequestParameters): void {
    const inProgress = this.inProgress.get(subjectOf(context)) ?? 0;
    // Returned although it is typed as nothing: a promise, on whose failure Nest logs.
    if (inProgress < maxRequestsInProgress) return super.handleRequest(context, produce, respond);
    void respond({ err: tooBusy.toMessage(), isDisposed: true });
  }

  /** Answers when the broker does. */
  async ping(): Promise<void> {
    await this.unwrap<NatsConnection>().flush();
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
    // Nest answers only after the hook that counts a request as done: hence at least one wait.
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

function subjectOf(context: unknown): string {
  return (context as NatsContext).getSubject(); // holds: the transport is NATS
}

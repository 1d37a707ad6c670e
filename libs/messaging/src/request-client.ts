import { Injectable, Logger } from '@nestjs/common';
import type { Registry } from '@stream-events/service';
import { isJsonObject, ServiceError, type Contract } from '@stream-events/contracts';
import {
  headers,
  RequestError,
  TimeoutError,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from '@nats-io/transport-node';
import type { Tracing } from '@stream-events/service';
import { connectNats, type NatsOptions } from './connection.js';
import { logConnection, type ConnectionWatch } from './connection-watch.js';
import { correlationHeader } from './correlation.js';
import { SentRequests } from './message-metrics.js';
import { traceRequest, type EventTrace } from './message-traces.js';
import { parseMessage } from './parse-message.js';
import { rawHeader } from './raw-messages.js';

export interface RequestClientOptions extends NatsOptions {
  /** Where to count requests, and the name of the service that sends them. */
  metrics?: { registry: Registry; app: string };
}

export interface RequestOptions {
  /** The id of the HTTP request that caused this one. The other service logs its failures with this id. */
  correlationId?: string;
  /** For each event in a sampled trace: its id, and the span that the handler continues. */
  eventTraces?: readonly EventTrace[];
}

/**
 * Maximum number of requests per contract that wait for a reply: four times one instance's limit (`maxRequestsInProgress`). More would
 * probably be rejected anyway, and while a service does not reply, each one takes up to 1 MiB of memory.
 */
export const maxWaitingRequests = 1_024;

/** No reply arrived in time, so it is unknown whether the service carried out the request. */
export class ReplyTimeoutError extends ServiceError {
  constructor(subject: string, timeoutMs: number) {
    super(
      'unavailable',
      'A service that this request needs did not reply in time. The request may or may not have been carried out. Retry after the time in `Retry-After`.',
      { isUncertain: true, cause: new Error(`no reply to ${subject} within ${timeoutMs} ms`) },
    );
  }
}

/** No running instance handles this kind of request, so it was not carried out. */
export class NoServiceError extends ServiceError {
  constructor(options: ErrorOptions) {
    super('unavailable', unavailableDetail, options);
  }
}

const unavailableDetail =
  'A service that this request needs is unavailable. Retry after the time in `Retry-After`.';

/**
 * Sends requests to other services, typed by their contracts: in the format of Nest's NATS transport, or in the contract's raw format. Uses
 * one inbox for all replies; Nest's own client subscribes and unsubscribes for each request.
 */
@Injectable()
export class RequestClient {
  private readonly logger = new Logger(RequestClient.name);
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  /** Requests that wait for a reply, by subject. The limit is per subject, so that a flood on one does not block the others. */
  private readonly waiting = new Map<string, number>();
  private readonly sent: SentRequests | undefined;
  private lastId = 0;

  constructor(private readonly options: RequestClientOptions) {
    const { metrics } = options;
    this.sent = metrics && new SentRequests(metrics.registry, metrics.app, () => this.waiting);
  }

  /** Undefined when tracing is off. */
  get tracing(): Tracing | undefined {
    return this.options.tracing;
  }

  /** Call this at the start: the service must not start without a connection. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    this.watch = logConnection(this.connection, this.logger);
  }

  /** Closes the connection, so waiting requests fail. */
  async close(): Promise<void> {
    await this.connection?.close();
  }

  /** @throws when NATS is not connected or does not reply */
  async ping(): Promise<void> {
    await this.reach().flush();
  }

  /**
   * Publishes a message to those who currently listen. While NATS is not connected, drops the message: the client would buffer it without
   * limit.
   */
  announce(subject: string, text: string): void {
    if (this.watch?.isConnected) this.connection?.publish(subject, text);
  }

  /** Calls the listener, which must not throw, with the text of each announcement on a subject. Connect first. */
  listen(subject: string, listener: (text: string) => void): void {
    this.connection?.subscribe(subject, {
      callback: (error, message) => {
        if (error) this.logger.error(error);
        else listener(message.string());
      },
    });
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @throws ServiceError with the code from the service's reply; `unavailable` at once when no instance of the service
   * runs, NATS is not connected, or too many requests are waiting; `internal` when the reply or the error code violates the contract
   * @throws NoServiceError at once when no instance of the service runs
   * @throws ReplyTimeoutError after the contract's time limit
   */
  async request<Request extends object, Reply extends object>(
    contract: Contract<Request, Reply>,
    request: Request,
    options: RequestOptions = {},
  ): Promise<Reply> {
    try {
      const reply = await this.requestUncounted(contract, request, options);
      this.sent?.note(contract.subject, 'ok');
      return reply;
    } catch (error) {
      this.sent?.note(contract.subject, resultOf(error));
      throw error;
    }
  }

  private async requestUncounted<Request extends object, Reply extends object>(
    contract: Contract<Request, Reply>,
    request: Request,
    options: RequestOptions,
  ): Promise<Reply> {
    const message = await this.sendWithinLimit(contract, request, options);
    const isRaw = message.headers?.has(rawHeader) === true;
    const reply = isRaw ? message.data : readReply(message, contract);
    try {
      return parseReply(contract, reply);
    } catch (error) {
      // Do not keep the code `invalid`: it would blame the caller for the other service's bug.
      throw toInternal(`the reply to ${contract.subject} violates its contract`, error);
    }
  }

  private async sendWithinLimit(
    contract: Contract<object, object>,
    request: object,
    options: RequestOptions,
  ): Promise<Msg> {
    const { subject } = contract;
    const waiting = this.waiting.get(subject) ?? 0;
    if (waiting >= maxWaitingRequests)
      throw new ServiceError(
        'unavailable',
        'Too many requests are waiting for a reply. Retry after the time in `Retry-After`.',
      );
    this.waiting.set(subject, waiting + 1);
    try {
      return await this.send(contract, request, options);
    } finally {
      this.waiting.set(subject, (this.waiting.get(subject) ?? 1) - 1);
    }
  }

  private async send(
    contract: Contract<object, object>,
    request: object,
    options: RequestOptions,
  ): Promise<Msg> {
    const { subject, timeoutMs } = contract;
    let requestHeaders = headersOf(options);
    const spans =
      this.tracing && traceRequest(this.tracing, contract, options, () => (requestHeaders ??= headers()));
    try {
      const message = await this.reach().request(subject, this.print(contract, request), {
        timeout: timeoutMs,
        ...(requestHeaders && { headers: requestHeaders }),
      });
      spans?.end();
      return message;
    } catch (error) {
      spans?.end(error);
      if (error instanceof TimeoutError) throw new ReplyTimeoutError(subject, timeoutMs);
      if (error instanceof RequestError && error.isNoResponders()) throw new NoServiceError({ cause: error });
      throw new ServiceError('unavailable', unavailableDetail, { cause: error });
    }
  }

  private print({ subject, rawRequest }: Contract<object, object>, request: object): string | Uint8Array {
    if (rawRequest) return rawRequest.print(request);
    // Nest's server takes a message without an id for an event and does not reply.
    const id = String((this.lastId += 1));
    return JSON.stringify({ pattern: subject, data: request, id });
  }

  /**
   * Throws when the connection is lost. The client would buffer a request in memory and drop it when it next tries to connect, so the
   * request would wait until it times out.
   */
  private reach(): NatsConnection {
    if (!this.connection || !this.watch?.isConnected) throw new Error('NATS is not connected');
    return this.connection;
  }
}

function headersOf({ correlationId }: RequestOptions): MsgHdrs | undefined {
  if (correlationId === undefined) return undefined;
  const messageHeaders = headers();
  messageHeaders.set(correlationHeader, correlationId);
  return messageHeaders;
}

/** @param reply a raw reply's bytes, or the parsed JSON of another reply */
function parseReply<Reply extends object>(contract: Contract<object, Reply>, reply: unknown): Reply {
  if (contract.rawReply) {
    if (reply instanceof Uint8Array) return contract.rawReply.parse(reply);
    throw new ServiceError('invalid', 'The message must be bytes.');
  }
  return contract.parseReply ? contract.parseReply(reply) : parseMessage(contract.reply, reply);
}

/** Reads `{"response":…}` or `{"err":…}`. */
function readReply(message: Msg, contract: Contract<object, object>): unknown {
  const reply = readJson(message);
  if (!isJsonObject(reply)) return undefined;
  if (reply.err != null) throw asDeclared(ServiceError.fromMessage(reply.err), contract);
  return reply.response;
}

/**
 * Returns undefined for a reply that is not JSON, which the contract's parser then rejects. `json()` can misread escaped member names, but
 * our services escape none (see `parseJson`).
 */
function readJson(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}

/** Returns errors that the contract declares. Turns others into `internal`: they are a bug in a service, not the caller's fault. */
function asDeclared(error: ServiceError, contract: Contract<object, object>): ServiceError {
  const isDeclared =
    contract.errors.includes(error.code) || error.code === 'unavailable' || error.code === 'internal';
  return isDeclared
    ? error
    : toInternal(`${contract.subject} failed with an error that its contract does not declare`, error);
}

/** Returns a failed request's value for the label `result`. */
function resultOf(error: unknown): string {
  if (error instanceof ReplyTimeoutError) return 'timeout';
  if (error instanceof NoServiceError) return 'no_service';
  return error instanceof ServiceError ? error.code : 'internal';
}

/** Creates an error that hides the services from the client. The log shows the reason, which is in the cause. */
function toInternal(reason: string, cause: unknown): ServiceError {
  const detail = 'The service failed unexpectedly. Search its logs for the X-Request-Id of this response.';
  return new ServiceError('internal', detail, { cause: new Error(reason, { cause }) });
}

import { Injectable, Logger } from '@nestjs/common';
import { isJsonObject, ServiceError, type Contract } from '@stream-events/contracts';
import { headers, TimeoutError, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { connectNats, type NatsOptions } from './connection.js';
import { logConnection, type ConnectionWatch } from './connection-watch.js';
import { correlationHeader } from './correlation.js';
import { parseMessage } from './parse-message.js';

/** Metadata of a request. */
export interface RequestOptions {
  /** The id of the HTTP request behind this one. The other service logs failures with it. */
  correlationId?: string;
}

/**
 * Maximum number of requests of one kind that wait for a reply: four times the limit of one instance of a service. The services
 * would reject more anyway, or the requests (up to 1 MiB each) would wait for a service that does not reply.
 */
export const maxWaitingRequests = 1_024;

/** No reply arrived in time: it is unknown whether the service carried out the request. */
export class ReplyTimeoutError extends ServiceError {
  constructor(subject: string, timeoutMs: number) {
    super('unavailable', `No reply to ${subject} within ${timeoutMs} ms.`);
  }
}

/**
 * Sends requests to other services, typed by their contracts, in the wire format of Nest's NATS transport. All replies share
 * one inbox, whereas Nest's own client subscribes to a new inbox for each request and unsubscribes again.
 */
@Injectable()
export class RequestClient {
  private readonly logger = new Logger(RequestClient.name);
  private connection: NatsConnection | undefined;
  private watch: ConnectionWatch | undefined;
  /** Number of requests that wait for a reply, by subject, so that a flood of one kind does not block the others. */
  private readonly waiting = new Map<string, number>();
  private lastId = 0;

  constructor(private readonly options: NatsOptions) {}

  /** Connects. The service does not start without this connection. */
  async connect(): Promise<void> {
    this.connection = await connectNats(this.options);
    this.watch = logConnection(this.connection, this.logger);
  }

  /** Closes the connection; requests that wait for a reply fail. */
  async close(): Promise<void> {
    await this.connection?.close();
  }

  /** @throws when NATS is not connected or does not reply */
  async ping(): Promise<void> {
    await this.reach().flush();
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @throws ServiceError with the code that the service replied; `unavailable` immediately when no instance of the service
   * runs, NATS is not connected, or too many requests wait already; `internal` when the reply or the code of the error
   * violates the contract
   * @throws ReplyTimeoutError after the time limit of the contract
   */
  async request<Request extends object, Reply extends object>(
    contract: Contract<Request, Reply>,
    request: Request,
    options: RequestOptions = {},
  ): Promise<Reply> {
    const reply = await this.sendWithinLimit(contract, request, options);
    try {
      return contract.parseReply ? contract.parseReply(reply) : parseMessage(contract.reply, reply);
    } catch (error) {
      // Not `invalid`, which would blame the caller for a bug in the other service.
      const detail = `The reply to ${contract.subject} violates its contract.`;
      throw new ServiceError('internal', detail, { cause: error });
    }
  }

  private async sendWithinLimit(
    contract: Contract<object, object>,
    request: object,
    options: RequestOptions,
  ): Promise<unknown> {
    const { subject } = contract;
    const waiting = this.waiting.get(subject) ?? 0;
    if (waiting >= maxWaitingRequests)
      throw new ServiceError(
        'unavailable',
        'Too many requests are waiting for a reply. Retry after the time in `Retry-After`.',
      );
    this.waiting.set(subject, waiting + 1);
    try {
      return readReply(await this.send(contract, request, options), contract);
    } finally {
      this.waiting.set(subject, (this.waiting.get(subject) ?? 1) - 1);
    }
  }

  private async send(
    { subject, timeoutMs }: Contract<object, object>,
    request: object,
    { correlationId }: RequestOptions,
  ): Promise<Msg> {
    // Nest's server treats a message without an id as an event and sends no reply.
    const id = String((this.lastId += 1));
    const payload = JSON.stringify({ pattern: subject, data: request, id });
    try {
      return await this.reach().request(subject, payload, {
        timeout: timeoutMs,
        ...(correlationId !== undefined && { headers: correlationHeaders(correlationId) }),
      });
    } catch (error) {
      if (error instanceof TimeoutError) throw new ReplyTimeoutError(subject, timeoutMs);
      const detail =
        'A service that this request needs is unavailable. Retry after the time in `Retry-After`.';
      throw new ServiceError('unavailable', detail, { cause: error });
    }
  }

  /** Returns the connection. Throws if it is lost, because the client would then keep requests in memory until NATS is back. */
  private reach(): NatsConnection {
    if (!this.connection || !this.watch?.isConnected) throw new Error('NATS is not connected');
    return this.connection;
  }
}

function correlationHeaders(correlationId: string): MsgHdrs {
  const messageHeaders = headers();
  messageHeaders.set(correlationHeader, correlationId);
  return messageHeaders;
}

/** Reads `{"response":…}` or `{"err":…}`. */
function readReply(message: Msg, contract: Contract<object, object>): unknown {
  const reply = readJson(message);
  if (!isJsonObject(reply)) return undefined;
  if (reply.err != null) throw asDeclared(ServiceError.fromMessage(reply.err), contract);
  return reply.response;
}

/** The contract's parser rejects undefined. Our services escape no names, so `json()` reads the names correctly (see `parseJson`). */
function readJson(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}

/** Returns an error that the contract declares unchanged. Any other error is a bug between the services, not the caller's fault. */
function asDeclared(error: ServiceError, contract: Contract<object, object>): ServiceError {
  const isDeclared =
    contract.errors.includes(error.code) || error.code === 'unavailable' || error.code === 'internal';
  return isDeclared
    ? error
    : new ServiceError(
        'internal',
        `${contract.subject} failed with an error that its contract does not declare.`,
        {
          cause: error,
        },
      );
}

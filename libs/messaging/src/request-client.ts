import { Injectable } from '@nestjs/common';
import { ClientNats, NatsRecordBuilder } from '@nestjs/microservices';
import { ServiceError, type Contract } from '@stream-events/contracts';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { firstValueFrom, TimeoutError, timeout } from 'rxjs';
import { connectNats, natsConnectionOptions, type NatsOptions } from './connection.js';
import { correlationHeader } from './correlation.js';
import { parseMessage } from './parse-message.js';

/** What goes along with a request. */
export interface RequestOptions {
  /** Of the HTTP request behind it: the other service logs failures under it too. */
  correlationId?: string;
}

/**
 * The most requests of one kind that one client waits for: four times what an instance of a service works on. More are
 * refused by the services anyway, or wait for one that does not answer, up to 1 MiB each.
 */
export const maxWaitingRequests = 1_024;

/** No reply came in time: whether the request was carried out is not known. */
export class ReplyTimeoutError extends ServiceError {
  constructor(subject: string, timeoutMs: number) {
    super('unavailable', `No reply to ${subject} within ${timeoutMs} ms.`);
  }
}

class NatsClient extends ClientNats {
  constructor(private readonly connection: NatsOptions) {
    super(natsConnectionOptions(connection));
  }

  override createClient(): Promise<NatsConnection> {
    return connectNats(this.connection);
  }
}

/** Sends requests to other services, typed by their contracts. */
@Injectable()
export class RequestClient {
  private readonly client: NatsClient;
  /** How many requests wait for a reply, by subject: a flood of one kind keeps no other out. */
  private readonly waiting = new Map<string, number>();

  constructor(options: NatsOptions) {
    this.client = new NatsClient(options);
  }

  /** Connects; the service does not start without. */
  async connect(): Promise<void> {
    await this.client.connect();
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  /** Answers when the broker does. */
  async ping(): Promise<void> {
    await this.client.connect();
    await this.client.unwrap<NatsConnection>().flush();
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @throws ServiceError what the service answered; `unavailable` at once when no instance of it is there or NATS is
   * away, or too many requests wait already; `internal` when the reply, or the kind of error, breaks its contract;
   * ReplyTimeoutError after the contract's time limit
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
      // `invalid` would blame the caller for what its neighbour did.
      const detail = `The reply to ${contract.subject} is not what its contract says.`;
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
      throw new ServiceError('unavailable', 'Too many requests wait for an answer. Try again soon.');
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
    { correlationId }: RequestOptions,
  ): Promise<unknown> {
    const record = new NatsRecordBuilder(request);
    if (correlationId !== undefined) {
      const messageHeaders = headers();
      messageHeaders.set(correlationHeader, correlationId);
      record.setHeaders(messageHeaders);
    }
    const replies = this.client.send<unknown>(contract.subject, record.build());
    try {
      return await firstValueFrom(replies.pipe(timeout({ first: contract.timeoutMs })));
    } catch (error) {
      if (error instanceof TimeoutError) throw new ReplyTimeoutError(contract.subject, contract.timeoutMs);
      if (isLocalError(error)) {
        throw new ServiceError(
          'unavailable',
          'A part of the service that this needs is not available. Try again soon.',
          { cause: error },
        );
      }
      throw asDeclared(ServiceError.fromMessage(error), contract);
    }
  }
}

/** The error as it is when the contract names it; any other is a fault between the services, not the caller's. */
function asDeclared(error: ServiceError, contract: Contract<object, object>): ServiceError {
  const isDeclared =
    contract.errors.includes(error.code) || error.code === 'unavailable' || error.code === 'internal';
  return isDeclared
    ? error
    : new ServiceError(
        'internal',
        `${contract.subject} was refused in a way that its contract does not name.`,
        { cause: error },
      );
}

/** Whether the request failed here (no connection, nobody subscribed) and not in the service that was asked. */
function isLocalError(error: unknown): boolean {
  // What a service answers is a plain object; a lost connection is a string in Nest's client, the rest are Errors.
  return error instanceof Error || typeof error === 'string';
}

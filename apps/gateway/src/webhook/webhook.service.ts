import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isTextWithin, ServiceError, type NewEvent } from '@stream-events/contracts';
import { generateEventId, PlatformIngest } from '@stream-events/ingest';
import { CONFIG, Counter, LOGGER, Registry, type Logger } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { toEventType } from '../events/event-type.js';
import { readMessage, readMessageHeaders, type PlatformMessage } from './platform-message.external.js';
import { isSignatureValid, isTimestampFresh, toSigningKeys } from './webhook-signature.js';

/** A message as it reached the callback. */
export interface WebhookRequest {
  headers: Record<string, string | string[] | undefined>;
  body: Uint8Array;
  /** The event type in the callback's path, when it names one. */
  pathType: string | undefined;
}

/** What the platform is answered: the challenge, or nothing. */
export type WebhookAnswer = { status: 200; body: string } | { status: 204 };

type Result =
  | 'stored'
  | 'known'
  | 'dead_lettered'
  | 'deferred'
  | 'challenge'
  | 'ignored'
  | 'bad_signature'
  | 'stale'
  | 'bad_message'
  | 'type_mismatch'
  | 'unavailable';

/**
 * Takes the platform's messages in.
 *
 * ```
 * headers ─▶ signature over the raw bytes ─▶ time within 10 min ─▶ body ─▶ type as in the path ─▶ stored ─▶ 204
 *                │ 403                          │ 403              │ 400       │ 400               │ unavailable
 *                                                                               INGEST stream ◀──────┴──▶ 503: it retries
 * ```
 */
@Injectable()
export class WebhookService {
  private readonly signingKeys: readonly KeyObject[];
  private readonly messagesTotal: Counter;

  constructor(
    private readonly ingest: PlatformIngest,
    @Inject(CONFIG) config: GatewayConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.signingKeys = toSigningKeys(config.PLATFORM_WEBHOOK_SECRET);
    this.messagesTotal = new Counter({
      name: 'gateway_webhook_messages_total',
      help: 'Messages at the platform’s webhook callback by what became of them',
      labelNames: ['result'],
      registers: [metrics],
    });
  }

  /**
   * Verifies a message and stores what it says; answered only when that is on disk, or on the INGEST stream.
   *
   * @throws ServiceError `forbidden` for a message that the platform did not sign, or not lately; `invalid` for one that
   * makes no sense; `unavailable` when it could not be stored
   */
  async receive(request: WebhookRequest): Promise<WebhookAnswer> {
    try {
      return await this.verifyAndStore(request);
    } catch (error) {
      if (error instanceof Refusal) this.count(error.result);
      else if (error instanceof ServiceError)
        this.count(error.code === 'unavailable' ? 'unavailable' : 'bad_message');
      throw error;
    }
  }

  private async verifyAndStore({ headers, body, pathType }: WebhookRequest): Promise<WebhookAnswer> {
    const { messageId, timestamp, signature, type } = readMessageHeaders(headers);
    if (!isSignatureValid({ messageId, timestamp, signature, body }, this.signingKeys)) {
      throw new Refusal('bad_signature', 'forbidden', 'The signature does not match the message.');
    }
    if (!isTimestampFresh(timestamp, Date.now())) {
      throw new Refusal('stale', 'forbidden', 'The message is not from the last ten minutes.');
    }
    const message = readMessage(type, body);
    if (message.kind === 'other') {
      this.logger.warn({ type }, 'platform message of an unknown type ignored');
      return this.answer('ignored');
    }
    if (pathType !== undefined && !isSameType(pathType, message.eventType)) {
      throw new Refusal(
        'type_mismatch',
        'invalid',
        `The message is about ${message.eventType}, not ${pathType}.`,
      );
    }
    if (message.kind === 'challenge') {
      this.count('challenge');
      return { status: 200, body: message.challenge };
    }
    return this.store(message, { messageId, occurredAt: Date.parse(timestamp) });
  }

  private async store(
    message: Exclude<PlatformMessage, { kind: 'other' | 'challenge' }>,
    { messageId, occurredAt }: { messageId: string; occurredAt: number },
  ): Promise<WebhookAnswer> {
    if (!isTextWithin(messageId, 1, 255))
      throw new Refusal('bad_message', 'invalid', 'The message id must have 1 to 255 characters.');
    const event: NewEvent = {
      id: generateEventId(),
      eventId: messageId,
      eventType: message.kind === 'revocation' ? 'subscription-revocation' : message.eventType,
      eventSource: 'PlatformSub',
      origin: 'platform',
      eventData: message.eventData,
      idempotencyKey: null,
      occurredAt,
    };
    return this.answer(await this.ingest.store(event));
  }

  private answer(result: Result): WebhookAnswer {
    this.count(result);
    return { status: 204 };
  }

  private count(result: Result): void {
    this.messagesTotal.inc({ result });
  }
}

class Refusal extends ServiceError {
  constructor(
    readonly result: Result,
    code: 'forbidden' | 'invalid',
    detail: string,
  ) {
    super(code, detail);
  }
}

/** The path may write the type as the API does or as the platform does: `stream-online`, `stream.online`. */
function isSameType(pathType: string, eventType: string): boolean {
  return toEventType(pathType) === toEventType(eventType);
}

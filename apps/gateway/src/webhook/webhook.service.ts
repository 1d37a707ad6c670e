import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, type StoreOutcome } from '@stream-events/contracts';
import { generateId, PlatformIngest } from '@stream-events/ingest';
import { fingerprintOf, inbound, toPlatformEvent, type SigningKey } from '@stream-events/platforms';
import { CONFIG, LOGGER, Registry, type Counter, type Logger } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { MessageClock } from './message-clock.js';
import { gatewayMetrics } from '../metrics.js';

/** A request to the platform's callback URL. */
export interface WebhookRequest {
  headers: Record<string, string | string[] | undefined>;
  body: Uint8Array;
  /** Event type from the path, if the path has one. */
  pathType: string | undefined;
  /** Fingerprint of a secret, from the path. Empty if the path has none. */
  fingerprint: string;
  /** HTTP request id, for traces. */
  requestId?: string;
}

/** The response to a message: the challenge for a verification, or an empty response for every other message. */
export type WebhookResponse = { status: 200; body: string } | { status: 204 };

type Result =
  | StoreOutcome['outcome']
  | 'deferred'
  | 'challenge'
  | 'ignored'
  | 'bad_signature'
  | 'stale'
  | 'bad_message'
  | 'type_mismatch'
  | 'unavailable';

/**
 * Receives messages from the platform:
 *
 * ```
 * headers ─▶ signature over the raw bytes ─▶ time within 10 min ─▶ body ─▶ type as in the path ─▶ store ─▶ 204
 *                │ 403                          │ 403              │ 400       │ 400              │ unavailable
 *                                                                             INGEST stream ◀─────┴──▶ 503: the platform retries
 * ```
 */
@Injectable()
export class WebhookService {
  private readonly signingKeys: readonly SigningKey[];
  /** The signing keys for callbacks whose path has a fingerprint. */
  private readonly keysByFingerprint: ReadonlyMap<string, readonly SigningKey[]>;
  private readonly messagesTotal: Counter<'result'>;
  private readonly counters = new Map<Result, Counter.Internal>();

  constructor(
    private readonly ingest: PlatformIngest,
    private readonly clock: MessageClock,
    @Inject(CONFIG) config: GatewayConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    const secrets = config.PLATFORM_WEBHOOK_SECRET;
    this.signingKeys = inbound.toSigningKeys(secrets);
    this.keysByFingerprint = new Map(
      secrets.map((secret) => [fingerprintOf(secret), inbound.toSigningKeys([secret])]),
    );
    this.messagesTotal = gatewayMetrics.gateway_webhook_messages_total.create(metrics);
  }

  /** Fingerprints of the configured secrets. */
  get fingerprints(): string[] {
    return [...this.keysByFingerprint.keys()];
  }

  /**
   * Verifies a message and stores its event. When `receive` returns, the event is on disk or on the INGEST stream.
   *
   * @throws ServiceError `forbidden` for a wrong signature, or a timestamp not within 10 minutes of now; `invalid` for a malformed message,
   * or an event type that differs from the path; `unavailable` when the event could not be stored
   */
  async receive(request: WebhookRequest): Promise<WebhookResponse> {
    try {
      return await this.verifyAndStore(request);
    } catch (error) {
      if (error instanceof Rejection) this.count(error.result);
      else if (error instanceof ServiceError)
        this.count(error.code === 'unavailable' ? 'unavailable' : 'bad_message');
      throw error;
    }
  }

  private async verifyAndStore(request: WebhookRequest): Promise<WebhookResponse> {
    const { headers, body, pathType, fingerprint, requestId } = request;
    const { messageId, timestamp, signature, type } = inbound.readHeaders(headers);
    // Use no keys for an unknown fingerprint: its secret is not configured, so no signature can be valid.
    const keys = fingerprint === '' ? this.signingKeys : (this.keysByFingerprint.get(fingerprint) ?? []);
    if (!inbound.isSignatureValid({ messageId, timestamp, signature, body }, keys)) {
      throw new Rejection('bad_signature', 'forbidden', 'The signature does not match the message.');
    }
    const now = Date.now();
    if (!inbound.isTimestampFresh(timestamp, now)) {
      this.clock.noteStale(timestamp, now);
      throw new Rejection('stale', 'forbidden', 'The timestamp is not within 10 minutes of now.');
    }
    this.clock.noteFresh(now);
    const message = inbound.readMessage(type, body);
    if (message.kind === 'other') {
      this.logger.warn({ type }, 'ignored a platform message of an unknown type');
      return this.done('ignored');
    }
    if (pathType !== undefined && !isSameType(pathType, message.eventType)) {
      throw new Rejection(
        'type_mismatch',
        'invalid',
        `The message has the event type ${message.eventType}, but the path names ${pathType}.`,
      );
    }
    if (message.kind === 'challenge') {
      this.count('challenge');
      return { status: 200, body: message.challenge };
    }
    const event = toPlatformEvent(message, {
      id: generateId(),
      messageId,
      occurredAt: Date.parse(timestamp),
    });
    return this.done(await this.ingest.store(event, 'webhook', requestId));
  }

  private done(result: Result): WebhookResponse {
    this.count(result);
    return { status: 204 };
  }

  private count(result: Result): void {
    // Cache the labeled counters: prom-client takes longer to look one up than to increment it.
    const counter = this.counters.get(result) ?? this.messagesTotal.labels({ result });
    this.counters.set(result, counter);
    counter.inc();
  }
}

class Rejection extends ServiceError {
  constructor(
    readonly result: Result,
    code: 'forbidden' | 'invalid',
    detail: string,
  ) {
    super(code, detail);
  }
}

/** The path can spell the type like this API (`stream-online`) or like the platform (`stream.online`). */
function isSameType(pathType: string, eventType: string): boolean {
  return inbound.toEventType(pathType) === inbound.toEventType(eventType);
}

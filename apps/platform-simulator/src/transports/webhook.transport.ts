import { randomUUID } from 'node:crypto';
import type { FaultsService } from '../faults/faults.service.js';
import type { PlatformLimits } from '../limits/platform-limits.js';
import { isAccepted, type DeliveryService, type Reply } from '../messages/delivery.service.js';
import { createFaultyMessage } from '../messages/faults.js';
import { createEnvelope, createMessage, type Envelope, type Message } from '../messages/message.js';
import type { Transport, TransportView } from './transport.js';

/** A callback and the secret that signs its messages. */
export interface Webhook {
  readonly callback: string;
  readonly secret: string;
}

/** Shared by all webhooks. */
export interface WebhookTools {
  readonly delivery: DeliveryService;
  readonly faults: FaultsService;
  readonly limits: PlatformLimits;
}

/** Sends signed requests, with retries (docs/platform-facts.md §1). */
export class WebhookTransport implements Transport {
  readonly view: TransportView & { method: 'webhook' };
  /** Called after `max_failed_notifications` failures in a row. */
  onExhausted: (() => void) | undefined;
  private failures = 0;

  constructor(
    readonly webhook: Webhook,
    private readonly tools: WebhookTools,
  ) {
    this.view = { method: 'webhook', callback: webhook.callback };
  }

  send(message: Envelope): Promise<Reply> {
    return this.tools.delivery.send(this.sign(message), this.webhook.callback);
  }

  async deliver(message: Envelope): Promise<void> {
    const { delivery } = this.tools;
    const isAccepted = await delivery.sendWithRetries(() => this.createCopy(message), this.webhook.callback);
    if (message.type !== 'notification') return;
    this.failures = isAccepted ? 0 : this.failures + 1;
    if (this.failures >= this.tools.limits.current.max_failed_notifications) this.onExhausted?.();
  }

  /** Sends the challenge (docs/platform-facts.md §1.4). @param about the subscription or shard to verify */
  async verify(
    about: object,
    subscription: Envelope['subscription'],
  ): Promise<{ isVerified: boolean; reply: Reply }> {
    const challenge = randomUUID();
    const body = JSON.stringify({ challenge, ...about });
    const reply = await this.send(
      createEnvelope({ type: 'webhook_callback_verification', subscription, body }),
    );
    return { isVerified: isAccepted(reply) && reply.body === challenge, reply };
  }

  private sign(message: Envelope): Message {
    return createMessage({ ...message, secret: this.webhook.secret });
  }

  /** Signs the message again for each attempt, because the fault `bad_signature` is random. */
  private createCopy(message: Envelope): Message {
    const isFaulty = message.type === 'notification' && this.tools.faults.draw('bad_signature');
    const { secret } = this.webhook;
    return isFaulty ? createFaultyMessage({ ...message, secret }, 'bad_signature') : this.sign(message);
  }
}

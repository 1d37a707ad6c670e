import { randomUUID } from 'node:crypto';
import { BadRequestException, Inject, Injectable } from '@nestjs/common';
import { FaultsService } from '../behavior/faults.service.js';
import { PlatformLimits } from '../behavior/platform-limits.js';
import { DeliveryCounts, DeliveryService, isAccepted, type Reply } from './delivery.service.js';
import { createEnvelope, createFaultyMessage, signMessage, type Envelope, type Message } from './message.js';
import { SocketServer } from './socket-server.service.js';
import type { SocketSession } from './socket-session.js';
import type { Transport, TransportView } from './transport.js';

/** A callback and the secret that signs its messages. */
export interface Webhook {
  readonly callback: string;
  readonly secret: string;
}

/** Sends signed requests, with retries (FACTS.md §1). */
export class WebhookTransport implements Transport {
  readonly view: TransportView & { method: 'webhook' };
  /** Called after `max_failed_notifications` failures in a row. */
  onExhausted: (() => void) | undefined;
  private failures = 0;

  constructor(
    readonly webhook: Webhook,
    private readonly delivery: DeliveryService,
    private readonly faults: FaultsService,
    private readonly limits: PlatformLimits,
  ) {
    this.view = { method: 'webhook', callback: webhook.callback };
  }

  send(message: Envelope): Promise<Reply> {
    return this.delivery.send(this.sign(message), this.webhook.callback);
  }

  async deliver(message: Envelope): Promise<void> {
    const { callback } = this.webhook;
    const isAccepted = await this.delivery.sendWithRetries(() => this.createCopy(message), callback);
    if (message.type !== 'notification') return;
    this.failures = isAccepted ? 0 : this.failures + 1;
    if (this.failures >= this.limits.current.max_failed_notifications) this.onExhausted?.();
  }

  /** Sends the challenge (FACTS.md §1.4). @param about the subscription or shard to verify */
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
    return signMessage(message, this.webhook.secret);
  }

  /** Signs the message again for each attempt, because the fault `bad_signature` is random. */
  private createCopy(message: Envelope): Message {
    const isFaulty = message.type === 'notification' && this.faults.draw('bad_signature');
    return isFaulty ? createFaultyMessage(message, this.webhook.secret, 'bad_signature') : this.sign(message);
  }
}

/**
 * Sends frames over a client's socket. Never retries: like the platform, it cannot know whether a frame arrives (FACTS.md
 * §2).
 */
export class SocketTransport implements Transport {
  constructor(
    readonly session: SocketSession,
    private readonly counts: DeliveryCounts,
  ) {}

  get view(): SocketSession['view'] {
    return this.session.view;
  }

  send(message: Envelope): Promise<Reply> {
    const isSent = this.session.send(message);
    const reply: Reply = isSent ? { status: 200, body: '' } : { status: 0, body: '', error: 'unreachable' };
    this.counts.countReply(message, reply);
    return Promise.resolve(reply);
  }

  async deliver(message: Envelope): Promise<void> {
    await this.send(message);
  }
}

/** Creates direct transports (webhooks and sockets) for subscriptions and conduit shards. */
@Injectable()
export class Transports {
  constructor(
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(DeliveryCounts) private readonly counts: DeliveryCounts,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(SocketServer) private readonly sockets: SocketServer,
  ) {}

  /** @throws BadRequestException if the callback has a foreign origin */
  webhook({ callback, secret }: Webhook): WebhookTransport {
    this.delivery.checkCallback(callback);
    return new WebhookTransport({ callback, secret }, this.delivery, this.faults, this.limits);
  }

  /** @throws BadRequestException if the session does not exist, in the platform's wording (FACTS.md §2) */
  socket(sessionId: string): SocketTransport {
    const session = this.sockets.find(sessionId);
    if (!session) {
      throw new BadRequestException(`session ${sessionId} does not exist or has already disconnected`);
    }
    return new SocketTransport(session, this.counts);
  }
}

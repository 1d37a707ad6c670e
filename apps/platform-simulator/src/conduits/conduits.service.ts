import { EventEmitter } from 'node:events';
import { HttpException, HttpStatus, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { PlatformLimits } from '../behavior/platform-limits.js';
import { DeliveryCounts } from '../transports/delivery.service.js';
import type { TransportDto } from '../transports/transport.js';
import { Transports, type SocketTransport, type WebhookTransport } from '../transports/transports.service.js';
import { Conduit, ConduitTransport, type Shard } from './conduit.js';

// Limit per application (FACTS.md §3).
const maxConduits = 5;

/** Manages the conduits of all applications, and the states of their shards. */
@Injectable()
export class ConduitsService {
  readonly events = new EventEmitter<{ shardDisabled: [Conduit, Shard]; deleted: [Conduit] }>();
  private readonly conduits = new Map<string, Conduit>();

  constructor(
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(Transports) private readonly transports: Transports,
    @Inject(DeliveryCounts) private readonly counts: DeliveryCounts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  list(clientId: string): Conduit[] {
    return [...this.conduits.values()].filter((conduit) => conduit.clientId === clientId);
  }

  /** @throws NotFoundException if the application has no such conduit */
  get(clientId: string, id: string): Conduit {
    const conduit = this.conduits.get(id);
    if (conduit?.clientId !== clientId) throw new NotFoundException('Conduit not found');
    return conduit;
  }

  /** @throws NotFoundException if the application has no such conduit */
  transport(clientId: string, id: string, channel: string): ConduitTransport {
    return new ConduitTransport(this.get(clientId, id), channel, this.counts);
  }

  create(clientId: string, shardCount: number): Conduit {
    if (this.list(clientId).length >= maxConduits) {
      throw new HttpException('Conduit limit reached', HttpStatus.TOO_MANY_REQUESTS);
    }
    const conduit = new Conduit(clientId, shardCount);
    this.conduits.set(conduit.id, conduit);
    return conduit;
  }

  delete(conduit: Conduit): void {
    clearTimeout(conduit.deletion);
    conduit.resize(0);
    this.conduits.delete(conduit.id);
    this.events.emit('deleted', conduit);
    this.logger.info({ conduitId: conduit.id }, 'conduit deleted');
  }

  /** Assigns a transport to a shard. Returns the updated shard, or the reason why the update failed. */
  assign(conduit: Conduit, id: string, requested: TransportDto): Shard | string {
    if (!conduit.hasPlace(id)) return "The shard id is outside the conduit's range";
    try {
      return requested.method === 'webhook'
        ? this.assignWebhook(conduit, id, this.transports.webhook(requested))
        : this.assignSocket(conduit, id, this.transports.socket(requested.session_id));
    } catch (error) {
      if (error instanceof HttpException) return error.message; // invalid callback or session
      throw error;
    }
  }

  private assignSocket(conduit: Conduit, id: string, transport: SocketTransport): Shard | string {
    const { session } = transport;
    if (session.isShard) return 'The websocket session is already assigned to a shard';
    session.isShard = true;
    session.claim();
    const shard = { id, status: 'enabled', transport };
    session.events.once('ended', (status) => this.disable(conduit, shard, status));
    conduit.assign(shard);
    clearTimeout(conduit.deletion);
    return shard;
  }

  private assignWebhook(conduit: Conduit, id: string, transport: WebhookTransport): Shard {
    const shard = { id, status: 'webhook_callback_verification_pending', transport };
    transport.onExhausted = () => {
      if (shard.status === 'enabled') this.disable(conduit, shard, 'notification_failures_exceeded');
    };
    conduit.assign(shard);
    void this.verify(conduit, shard); // never rejects: a failing callback only changes the status
    return shard;
  }

  private async verify(conduit: Conduit, shard: Shard & { transport: WebhookTransport }): Promise<void> {
    const about = { conduit_shard: { conduit_id: conduit.id, shard: shard.id } };
    // The platform does not document the type headers of this challenge.
    const { isVerified } = await shard.transport.verify(about, { type: 'conduit.shard', version: '1' });
    if (isVerified) {
      shard.status = 'enabled';
      if (conduit.has(shard)) clearTimeout(conduit.deletion);
    } else {
      this.disable(conduit, shard, 'webhook_callback_verification_failed');
    }
  }

  /** Does not change the conduit if the shard was replaced. Restarts the deletion timer if the conduit has no enabled shard. */
  private disable(conduit: Conduit, shard: Shard, status: string): void {
    shard.status = status;
    if (!conduit.has(shard)) return;
    this.logger.info({ conduitId: conduit.id, shardId: shard.id, status }, 'conduit shard disabled');
    this.events.emit('shardDisabled', conduit, shard);
    if (!conduit.isDead) return;
    clearTimeout(conduit.deletion);
    const lifetimeMs = this.limits.current.dead_conduit_seconds * 1_000;
    conduit.deletion = setTimeout(() => this.delete(conduit), lifetimeMs).unref();
  }
}

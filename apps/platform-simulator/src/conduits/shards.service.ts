import { HttpException, Inject, Injectable } from '@nestjs/common';
import { SocketTransport } from '../transports/socket.transport.js';
import { Transports } from '../transports/transports.service.js';
import { WebhookTransport } from '../transports/webhook.transport.js';
import type { TransportView } from '../transports/transport.js';
import type { Conduit, Shard } from './conduit.js';
import type { AssignShardDto } from './conduit.dto.js';
import { ConduitsService } from './conduits.service.js';

/** A shard as the platform's API returns it. */
export interface ShardView {
  id: string;
  status: string;
  transport: TransportView;
}

export interface ShardError {
  id: string;
  message: string;
  code: string;
}

@Injectable()
export class ShardsService {
  /** Sessions that were ever assigned to a shard. The platform allows only one shard per session. */
  private readonly used = new WeakSet<SocketTransport['session']>();

  constructor(
    @Inject(ConduitsService) private readonly conduits: ConduitsService,
    @Inject(Transports) private readonly transports: Transports,
  ) {}

  /** Returns the updated shards, and an error for each shard that could not be updated. */
  assign(conduit: Conduit, requests: AssignShardDto[]): { data: ShardView[]; errors: ShardError[] } {
    const data: ShardView[] = [];
    const errors: ShardError[] = [];
    for (const request of requests) {
      const result = this.assignOne(conduit, request);
      if (typeof result === 'string')
        errors.push({ id: request.id, message: result, code: 'invalid_parameter' });
      else data.push(viewShard(result));
    }
    return { data, errors };
  }

  /** Returns the updated shard, or the reason why the update failed. */
  private assignOne(conduit: Conduit, { id, transport: requested }: AssignShardDto): Shard | string {
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
    if (this.used.has(session)) return 'The websocket session is already assigned to a shard';
    this.used.add(session);
    session.claim();
    const shard = { id, status: 'enabled', transport };
    session.events.once('ended', (status) => this.conduits.disable(conduit, shard, status));
    this.conduits.assign(conduit, shard);
    return shard;
  }

  private assignWebhook(conduit: Conduit, id: string, transport: WebhookTransport): Shard {
    const shard = { id, status: 'webhook_callback_verification_pending', transport };
    transport.onExhausted = () => {
      if (shard.status === 'enabled') this.conduits.disable(conduit, shard, 'notification_failures_exceeded');
    };
    this.conduits.assign(conduit, shard);
    void this.verify(conduit, shard); // never rejects: a failing callback only changes the status
    return shard;
  }

  private async verify(conduit: Conduit, shard: Shard & { transport: WebhookTransport }): Promise<void> {
    const about = { conduit_shard: { conduit_id: conduit.id, shard: shard.id } };
    // The platform does not document the type headers of this challenge.
    const { isVerified } = await shard.transport.verify(about, { type: 'conduit.shard', version: '1' });
    if (isVerified) this.conduits.enable(conduit, shard);
    else this.conduits.disable(conduit, shard, 'webhook_callback_verification_failed');
  }
}

export function viewShard({ id, status, transport }: Shard): ShardView {
  return { id, status, transport: transport.view };
}

import type { DeliveryCounts } from '../messages/delivery-counts.js';
import type { Reply } from '../messages/delivery.service.js';
import type { Envelope } from '../messages/message.js';
import type { Transport, TransportView } from '../transports/transport.js';
import type { Conduit } from './conduit.js';

/** Sends each message over one of the conduit's shards, usually the shard of the channel (docs/platform-facts.md §3). */
export class ConduitTransport implements Transport {
  readonly view: TransportView & { method: 'conduit' };

  constructor(
    readonly conduit: Conduit,
    private readonly channel: string,
    private readonly counts: DeliveryCounts,
  ) {
    this.view = { method: 'conduit', conduit_id: conduit.id };
  }

  /** The id of the shard that would send the message now. If no suitable shard is enabled, returns the id of the channel's own shard. */
  shardIdFor(message: Envelope): string {
    return this.conduit.choose(this.channel, message)?.id ?? String(this.conduit.indexOf(this.channel));
  }

  send(message: Envelope): Promise<Reply> {
    const shard = this.conduit.choose(this.channel, message);
    return shard ? shard.transport.send(message) : Promise.resolve(this.drop(message));
  }

  async deliver(message: Envelope): Promise<void> {
    const shard = this.conduit.choose(this.channel, message);
    if (shard) await shard.transport.deliver(message);
    else this.drop(message);
  }

  private drop({ type }: Envelope): Reply {
    if (type === 'notification') this.counts.countDropped();
    return { status: 0, body: '', error: 'unreachable' };
  }
}

import { createHash, randomUUID } from 'node:crypto';
import type { DeliveryCounts, Reply } from '../transports/delivery.service.js';
import type { Envelope } from '../transports/message.js';
import type { Transport, TransportView } from '../transports/transport.js';
import type { SocketTransport, WebhookTransport } from '../transports/transports.service.js';

/** A shard and its transport. Assigning another transport creates a new shard with the same id. */
export interface Shard {
  readonly id: string;
  status: string;
  readonly transport: WebhookTransport | SocketTransport;
}

/** Distributes an application's events over shards by channel (FACTS.md §3). */
export class Conduit {
  readonly id = randomUUID();
  /** Deletes the conduit unless a shard is enabled in time. */
  deletion: NodeJS.Timeout | undefined;
  /** Shards by index; undefined before the first assignment. */
  private shards: (Shard | undefined)[];

  constructor(
    readonly clientId: string,
    shardCount: number,
  ) {
    this.shards = Array.from({ length: shardCount });
  }

  get shardCount(): number {
    return this.shards.length;
  }

  get isDead(): boolean {
    return !this.list().some(({ status }) => status === 'enabled');
  }

  /** Adds shards without a transport, or removes the highest shards. */
  resize(shardCount: number): void {
    this.shards = Array.from({ length: shardCount }, (_, index) => this.shards[index]);
  }

  /** Whether the id is in range: `0` to the shard count minus 1. */
  hasPlace(id: string): boolean {
    return /^(0|[1-9]\d{0,4})$/.test(id) && Number(id) < this.shardCount;
  }

  /** Check the id with `hasPlace` first. */
  assign(shard: Shard): void {
    this.shards[Number(shard.id)] = shard;
  }

  /** Whether the conduit still has this shard, with the same transport. */
  has(shard: Shard): boolean {
    return this.shards[Number(shard.id)] === shard;
  }

  /** The shards that have a transport, in order of id. */
  list(): Shard[] {
    return this.shards.flatMap((shard) => shard ?? []);
  }

  /**
   * Chooses a shard for the message. If the channel's shard is not enabled, tries one other shard, as the platform does. Returns undefined
   * if there is no other shard, or if the other shard is not enabled either. The event is then lost.
   */
  choose(channel: string, { id }: Envelope): Shard | undefined {
    const first = this.indexOf(channel);
    const shard = this.shards[first];
    if (shard?.status === 'enabled' || this.shardCount === 1) return findEnabled(shard);
    const other = (first + 1 + (hashOf(id) % (this.shardCount - 1))) % this.shardCount;
    return findEnabled(this.shards[other]);
  }

  /** Index of the channel's own shard. */
  indexOf(channel: string): number {
    return hashOf(channel) % this.shardCount;
  }
}

function findEnabled(shard: Shard | undefined): Shard | undefined {
  return shard?.status === 'enabled' ? shard : undefined;
}

function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE();
}

/** Sends each message over one of the conduit's shards, usually the shard of the channel (FACTS.md §3). */
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

  private drop(message: Envelope): Reply {
    this.counts.countDropped(message);
    return { status: 0, body: '', error: 'unreachable' };
  }
}

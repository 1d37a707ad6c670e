import { createHash, randomUUID } from 'node:crypto';
import type { Envelope } from '../messages/message.js';
import type { SocketTransport } from '../transports/socket.transport.js';
import type { WebhookTransport } from '../transports/webhook.transport.js';

/** A shard with its transport. Assigning another transport creates a new shard with the same id. */
export interface Shard {
  readonly id: string;
  status: string;
  readonly transport: WebhookTransport | SocketTransport;
}

/** An application's conduit. Each shard sends the events of some of the channels (docs/platform-facts.md §3). */
export class Conduit {
  readonly id = randomUUID();
  /** Timer that deletes the conduit while no shard is enabled. */
  deletion: NodeJS.Timeout | undefined;
  /** The shards by index; undefined until a transport is assigned. */
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

  /** Removes the highest shards, or adds shards without a transport. */
  resize(shardCount: number): void {
    this.shards = Array.from({ length: shardCount }, (_, index) => this.shards[index]);
  }

  /** Whether the conduit has a shard with this id, from `0` to the shard count minus 1. */
  hasPlace(id: string): boolean {
    return /^(0|[1-9]\d{0,4})$/.test(id) && Number(id) < this.shardCount;
  }

  /** Assigns a transport to a shard. The caller has checked the id with `hasPlace`. */
  assign(shard: Shard): void {
    this.shards[Number(shard.id)] = shard;
  }

  /** Whether the shard is still part of the conduit, with the same transport. */
  has(shard: Shard): boolean {
    return this.shards[Number(shard.id)] === shard;
  }

  /** The shards with a transport, by id. */
  list(): Shard[] {
    return this.shards.flatMap((shard) => shard ?? []);
  }

  /**
   * Chooses the shard for a message of a channel. If the channel's shard is not enabled, the platform tries one other shard. Returns
   * undefined when that shard is not enabled either. The platform then drops the event.
   */
  choose(channel: string, { id }: Envelope): Shard | undefined {
    const first = this.indexOf(channel);
    const shard = this.shards[first];
    if (shard?.status === 'enabled' || this.shardCount === 1) return findEnabled(shard);
    const other = (first + 1 + (hashOf(id) % (this.shardCount - 1))) % this.shardCount;
    return findEnabled(this.shards[other]);
  }

  /** Returns the index of the channel's shard, which sends the channel's messages while the shard is enabled. */
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

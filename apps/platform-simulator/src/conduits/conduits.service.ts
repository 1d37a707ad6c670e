import { EventEmitter } from 'node:events';
import { HttpException, HttpStatus, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import { PlatformLimits } from '../limits/platform-limits.js';
import { Conduit, type Shard } from './conduit.js';

// Limit per application (docs/platform-facts.md §3).
const maxConduits = 5;

/** Manages the conduits of all applications, and the states of their shards. */
@Injectable()
export class ConduitsService {
  readonly events = new EventEmitter<{ shardDisabled: [Conduit, Shard]; deleted: [Conduit] }>();
  private readonly conduits = new Map<string, Conduit>();

  constructor(
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
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

  /** Assigns a transport to a shard. An enabled shard also stops the deletion timer of the conduit. */
  assign(conduit: Conduit, shard: Shard): void {
    conduit.assign(shard);
    if (!conduit.isDead) clearTimeout(conduit.deletion);
  }

  /** Call after the callback has answered the challenge. */
  enable(conduit: Conduit, shard: Shard): void {
    shard.status = 'enabled';
    if (conduit.has(shard)) clearTimeout(conduit.deletion);
  }

  /** Does not change the conduit if the shard was replaced. Restarts the deletion timer if the conduit has no enabled shard. */
  disable(conduit: Conduit, shard: Shard, status: string): void {
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

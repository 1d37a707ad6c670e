import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { followDurably } from './follow-durably.js';
import { RaidsService } from './raids.service.js';

/** Reads raids while the application runs. */
@Injectable()
export class RaidsConsumer implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly ending = new AbortController();
  private reading: Promise<void> | undefined;

  constructor(
    @Inject('NATS') private readonly connection: NatsConnection,
    private readonly raids: RaidsService,
  ) {}

  onApplicationBootstrap(): void {
    this.reading = followDurably(this.connection, {
      name: 'raids',
      filter: 'events.platform.channel-raid.>',
      handle: (event, id) => this.raids.onRaid(event, id),
      signal: this.ending.signal,
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.ending.abort();
    await this.reading;
  }
}

import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectToEvents } from './connect-to-events.js';
import { RaidsConsumer } from './raids.consumer.js';
import { RaidsService } from './raids.service.js';

@Module({
  providers: [
    {
      provide: 'NATS',
      useFactory: () =>
        connectToEvents(process.env.EVENTS_SERVER ?? '127.0.0.1:4222', process.env.EVENTS_PASSWORD ?? ''),
    },
    RaidsConsumer,
    RaidsService,
  ],
})
export class RaidsModule implements OnApplicationShutdown {
  constructor(@Inject('NATS') private readonly connection: NatsConnection) {}

  onApplicationShutdown(): Promise<void> {
    return this.connection.close();
  }
}

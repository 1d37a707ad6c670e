import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  beginOverlaps,
  endOverlaps,
  type BeginOverlapsReply,
  type BeginOverlapsRequest,
  type EndOverlapsReply,
  type EndOverlapsRequest,
} from '@stream-events/contracts';
import { ErrorResponder, Handles, NatsServerStrategy } from '@stream-events/messaging';
import { createLogger, NestLogger } from '@stream-events/service';

/** The overlaps that were announced to a stand-in events service. */
export class AnnouncedOverlaps {
  /** How often each overlap was announced. An overlap is ready at its second announcement. */
  readonly announced = new Map<string, number>();
  readonly ended = new Set<string>();

  begin({ subscriptions }: BeginOverlapsRequest): BeginOverlapsReply {
    for (const key of subscriptions) {
      this.announced.set(key, (this.announced.get(key) ?? 0) + 1);
      this.ended.delete(key);
    }
    return { readyInMs: subscriptions.every((key) => this.isReady(key)) ? 0 : 1 };
  }

  end({ overlaps }: EndOverlapsRequest): EndOverlapsReply {
    for (const { subscription } of overlaps) this.ended.add(subscription);
    return {};
  }

  isReady(key: string): boolean {
    return (this.announced.get(key) ?? 0) >= 2 && !this.ended.has(key);
  }
}

/** Acts as the events service: replies to announcements of overlaps until it is closed. */
export async function startStandInEvents(
  natsUrl: string,
  overlaps: AnnouncedOverlaps,
): Promise<{ close(): Promise<void> }> {
  @Controller()
  class OverlapsController {
    @Handles(beginOverlaps)
    async begin(request: BeginOverlapsRequest): Promise<BeginOverlapsReply> {
      return Promise.resolve(overlaps.begin(request));
    }

    @Handles(endOverlaps)
    async end(request: EndOverlapsRequest): Promise<EndOverlapsReply> {
      return Promise.resolve(overlaps.end(request));
    }
  }

  @Module({ controllers: [OverlapsController] })
  class EventsModule {}

  const logger = createLogger('test', 'silent');
  const app = await NestFactory.createMicroservice(EventsModule, {
    strategy: new NatsServerStrategy({
      urls: [natsUrl],
      name: 'events',
      queue: 'events',
      contracts: [beginOverlaps, endOverlaps],
    }),
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  app.useGlobalFilters(new ErrorResponder(logger, (error) => error));
  await app.listen();
  return app;
}

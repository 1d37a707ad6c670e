import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  listMonitored,
  ServiceError,
  type ListMonitoredReply,
  type ListStreamersRequest,
} from '@stream-events/contracts';
import { ErrorResponder, Handles, NatsServerStrategy } from '@stream-events/messaging';
import { createLogger, NestLogger } from '@stream-events/service';

/** The streamers of a stand-in monitor, oldest first. Tests change this list. */
export class MonitoredList {
  ids: string[] = [];
  pageSize = 1_000;
  /** Requests for this page and for all later pages fail. */
  failsFromPage = Infinity;

  page({ after }: ListStreamersRequest): ListMonitoredReply {
    const start = after === undefined ? 0 : Number.parseInt(after.slice(-12), 16);
    if (start / this.pageSize >= this.failsFromPage)
      throw new ServiceError('unavailable', 'The database is not available.');
    const end = start + this.pageSize;
    const next = `00000000-0000-7000-8000-${end.toString(16).padStart(12, '0')}`;
    return { platformIds: this.ids.slice(start, end), next: end < this.ids.length ? next : null };
  }
}

/** Acts as the streamer monitor: replies to `listMonitored` until it is closed. */
export async function startStandInMonitor(
  natsUrl: string,
  list: MonitoredList,
): Promise<{ close(): Promise<void> }> {
  @Controller()
  class MonitoredController {
    @Handles(listMonitored)
    async listMonitored(request: ListStreamersRequest): Promise<ListMonitoredReply> {
      return Promise.resolve(list.page(request));
    }
  }

  @Module({ controllers: [MonitoredController] })
  class MonitorModule {}

  const logger = createLogger('test', 'silent');
  const app = await NestFactory.createMicroservice(MonitorModule, {
    strategy: new NatsServerStrategy({
      urls: [natsUrl],
      name: 'streamer-monitor',
      queue: 'streamer-monitor',
      contracts: [listMonitored],
    }),
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  app.useGlobalFilters(new ErrorResponder(logger, (error) => error));
  await app.listen();
  return app;
}

import { Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  exportEvents,
  getEvent,
  listEvents,
  natsUsers,
  summarizeStream,
  type Contract,
} from '@stream-events/contracts';
import { ErrorResponder, NatsServerStrategy, RequestClient } from '@stream-events/messaging';
import { createLogger } from '@stream-events/service';
import { startTestNats, type TestNats } from '@stream-events/testing';
import { v7 } from 'uuid';
import { EventStore } from '../test/event-store.js';
import { newEvent } from '../test/new-event.js';
import { EventExportController } from './event-export/event-export.controller.js';
import { EventExportService } from './event-export/event-export.service.js';
import { EventListController } from './event-list/event-list.controller.js';
import { EventListRepository } from './event-list/event-list.repository.js';
import { RetentionRepository } from './retention/retention.repository.js';
import { RetentionPolicy } from './store/retention-policy.js';
import { KeptEvents } from './stream-summaries/kept-events.js';
import { SavedSummaries } from './stream-summaries/saved-summaries.repository.js';
import { StreamSummariesController } from './stream-summaries/stream-summaries.controller.js';
import { StreamSummaries } from './stream-summaries/stream-summaries.service.js';
import { SummariesRepository } from './stream-summaries/summaries.repository.js';

const startedAt = Date.UTC(2025, 1, 10);
const event = newEvent({
  id: v7({ msecs: startedAt + 1 }),
  eventData: JSON.stringify({ user_id: 'u1', broadcaster_user_id: 'c1' }),
});

/** Requests that find the event, without their limits. */
const requests: readonly (readonly [Contract<object, object>, object])[] = [
  [listEvents, { filters: {}, pageSize: 10, records: true }],
  [getEvent, { id: event.id }],
  [exportEvents, { filters: {}, format: 'csv' }],
  [summarizeStream, { streamId: v7(), channelId: 'c1', startedAt, endedAt: startedAt + 2 }],
];

let nats: TestNats;
let store: EventStore;
let service: INestMicroservice;
let client: RequestClient;

beforeAll(async () => {
  [nats, store] = await Promise.all([startTestNats(Object.values(natsUsers)), EventStore.create()]);
  await store.writer.store([event]);
  service = await serve();
  client = new RequestClient({ urls: [nats.urlFor('gateway')], name: 'gateway' });
  await client.connect();
});

afterAll(async () => {
  await client.close();
  await service.close();
  await Promise.all([nats.stop(), store.close()]);
});

async function serve(): Promise<INestMicroservice> {
  const summaries = new StreamSummaries(
    new SummariesRepository(store.dataSource),
    new SavedSummaries(store.dataSource, store.changes),
    store.changes,
    new KeptEvents(store.partitions, RetentionPolicy.forever, new RetentionRepository(store.dataSource)),
  );
  @Module({
    controllers: [EventListController, EventExportController, StreamSummariesController],
    providers: [
      { provide: EventListRepository, useValue: store.list },
      { provide: EventExportService, useValue: new EventExportService(store.list) },
      { provide: StreamSummaries, useValue: summaries },
    ],
  })
  class ReadingModule {}
  const contracts = requests.map(([contract]) => contract);
  const options = { urls: [nats.urlFor('events')], name: 'events', queue: 'events', contracts };
  const app = await NestFactory.createMicroservice(ReadingModule, {
    strategy: new NatsServerStrategy(options),
    logger: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ErrorResponder(createLogger('test', 'silent'), (error) => error));
  await app.listen();
  // Requests come through another connection, so wait until the broker knows the subscriptions.
  await app.unwrap<NatsConnection>().flush();
  return app;
}

/** Sends a request, and returns whether the reply contains the event. */
async function finds(contract: Contract<object, object>, request: object): Promise<boolean> {
  const reply = await client.request(contract, request);
  const texts = Object.values(reply).map((value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : JSON.stringify(value),
  );
  return texts.some((text) => text.includes(event.eventType));
}

describe.each(requests.map(([contract, request]) => ({ subject: contract.subject, contract, request })))(
  '$subject',
  ({ contract, request }) => {
    it('reads all events with empty limits, and ignores unknown fields beside the limits', async () => {
      expect(await finds(contract, { ...request, limits: {} })).toBe(true);
      expect(await finds(contract, { ...request, limits: {}, newerField: ['u2'] })).toBe(true);
    });

    it.each([
      ['no limits', {}],
      ['null as limits', { limits: null }],
      ['a limit that only a newer version knows', { limits: { userIds: ['u2'] } }],
      ['such a limit beside a known one', { limits: { channelIds: ['c1'], userIds: ['u2'] } }],
    ])('replies with an error, and without events, to %s', async (_, limits) => {
      await expect(client.request(contract, { ...request, ...limits })).rejects.toMatchObject({
        // The gateway sends limits for its clients, so they must not get a client error.
        code: 'internal',
        cause: { cause: { code: 'invalid', errors: { limits: expect.any(Array) as unknown } } },
      });
    });
  },
);

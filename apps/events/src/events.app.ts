import type { INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  discardDeadLetter,
  getDeadLetter,
  getEvent,
  listDeadLetters,
  listEvents,
  retryDeadLetter,
  storeEvents,
} from '@stream-events/contracts';
import { claimStoreFor, connectDatabase, createPool, toUnavailable } from '@stream-events/database';
import {
  closeNats,
  connectNats,
  ErrorResponder,
  natsConnectionOptions,
  NatsServerStrategy,
  StreamPublisher,
} from '@stream-events/messaging';
import { closeAll, defineService, NestLogger, type Shell } from '@stream-events/service';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { variables, type EventsConfig } from './events.config.js';
import { schema } from './events.database.js';
import { EventsModule } from './events.module.js';
import { IngestDrain } from './ingest/ingest-drain.service.js';
import { IngestStream } from './ingest/ingest-stream.js';
import { IntakeStream } from './ingest/intake-stream.js';
import { EventsStream } from './relay/events-stream.js';
import { Relay } from './relay/relay.service.js';
import { StreamWatch } from './relay/stream-watch.service.js';
import { StoreMaintenance } from './store/store-maintenance.service.js';

// More concurrent writers would only wait for each other's locks and commits.
const writeConnections = 4;

/** The contracts that the events service serves. */
const servedContracts = [
  storeEvents,
  listEvents,
  getEvent,
  listDeadLetters,
  getDeadLetter,
  retryDeadLetter,
  discardDeadLetter,
];

/** The events service: stores batches of events, lists them, and publishes them to the EVENTS stream. */
export const events = defineService({ name: 'events', variables, start });

async function start(shell: Shell<EventsConfig>) {
  const { config, logger, health } = shell;
  const nats = { urls: config.NATS_URL, name: 'events' };
  const database = { url: config.DATABASE_URL, schema: schema.name, applicationName: 'events' };
  const { entities, migrations } = schema;
  const dataSource = await connectDatabase({ ...database, entities, migrations, poolSize: 10 });
  // Batches are written through a pool of their own, so that no list keeps a write waiting.
  const writePool = createPool({ ...database, poolSize: writeConnections });
  await claimStoreFor(config.PLATFORM, dataSource);
  const eventsNats = { ...nats, name: 'events-relay', account: 'EVENTS' } as const;
  const relayConnection = await connectNats(eventsNats);
  const stream = await EventsStream.open(relayConnection, {
    platform: config.PLATFORM,
    maxAgeDays: config.EVENTS_MAX_AGE_DAYS,
    maxGigabytes: config.EVENTS_MAX_GB,
  });
  const ingestConnection = await connectNats({ ...nats, name: 'events-ingest' });
  const ingestStream = new IngestStream(ingestConnection, {
    platform: config.PLATFORM,
    maxGigabytes: config.INGEST_MAX_GB,
  });
  const intakeStream = new IntakeStream(ingestConnection, { platform: config.PLATFORM }, logger);

  const publisher = new StreamPublisher(relayConnection, natsConnectionOptions(eventsNats));
  const strategy = new NatsServerStrategy({ ...nats, queue: 'events', contracts: servedContracts });
  const app: INestMicroservice = await NestFactory.createMicroservice(
    EventsModule.register(shell, [
      { provide: DataSource, useValue: dataSource },
      { provide: Pool, useValue: writePool },
      { provide: EventsStream, useValue: stream },
      { provide: StreamPublisher, useValue: publisher },
      { provide: IngestStream, useValue: ingestStream },
      { provide: IntakeStream, useValue: intakeStream },
    ]),
    { strategy, logger: new NestLogger(logger), abortOnError: false },
  );
  app.useGlobalFilters(new ErrorResponder(logger, toUnavailable));
  await app.get(IngestDrain).prepare();
  await app.get(StoreMaintenance).start();
  await app.get(StreamWatch).start();
  app.get(Relay).start();
  app.get(IngestDrain).start();
  await app.listen();

  health.register('events database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('events nats', () => strategy.ping());
  health.register('events relay', () => app.get(Relay).check());
  return {
    // First stop receiving, then publish the stored events, then close the connections.
    close: () =>
      closeAll([
        () => app.close(),
        () => app.get(IngestDrain).stop(),
        () => app.get(StoreMaintenance).stop(),
        () => app.get(Relay).stop(),
        () => app.get(StreamWatch).stop(),
        () => publisher.close(),
        () => Promise.all([closeNats(relayConnection), closeNats(ingestConnection)]),
        () => writePool.end(),
        () => dataSource.destroy(),
      ]),
  };
}

import { NestFactory } from '@nestjs/core';
import type { INestMicroservice } from '@nestjs/common';
import {
  createStreamer,
  deleteStreamer,
  eraseStreamer,
  findLiveStreams,
  getLatestStream,
  getRebuild,
  getStreamer,
  getStreamHistory,
  getStreamViewers,
  listMonitored,
  listStreamers,
  listStreams,
  rebuildStreams,
  updateStreamer,
  type Contract,
} from '@stream-events/contracts';
import {
  claimStoreFor,
  connectDatabase,
  measurePool,
  migrateDatabase,
  toUnavailable,
} from '@stream-events/database';
import {
  closeNats,
  connectNats,
  ErrorResponder,
  InstanceReporter,
  NatsServerStrategy,
  RequestClient,
} from '@stream-events/messaging';
import { closeAll, defineService, NestLogger, type Shell } from '@stream-events/service';
import { UsernameRefresh } from './polling/username-refresh.service.js';
import { Poller } from './polling/poller.service.js';
import { RebuildService } from './rebuild/rebuild.service.js';
import { StreamEventsConsumer } from './stream-events/stream-events.consumer.js';
import { variables, type StreamerMonitorConfig } from './streamer-monitor.config.js';
import { schema } from './streamer-monitor.database.js';
import { StreamerMonitorModule } from './streamer-monitor.module.js';
import { StreamMaintenance } from './streams/stream-maintenance.service.js';

// Database connections: up to six for events, two for polls, five for a rebuild, one each for usernames and maintenance, and the rest for
// requests.
const databaseConnections = 16;

const servedContracts: readonly Contract<object, object>[] = [
  listStreamers,
  createStreamer,
  getStreamer,
  updateStreamer,
  deleteStreamer,
  eraseStreamer,
  listMonitored,
  findLiveStreams,
  listStreams,
  getLatestStream,
  getStreamHistory,
  getStreamViewers,
  rebuildStreams,
  getRebuild,
];

/** The streamer monitor: records which streamers are live, and when they stream. */
export const streamerMonitor = defineService({
  name: 'streamer-monitor',
  variables,
  migrate: ({ DATABASE_URL: url }) => migrateDatabase(databaseAt(url)),
  start,
});

async function start(shell: Shell<StreamerMonitorConfig>) {
  const { config, logger, health } = shell;
  const nats = { urls: config.NATS_URL, name: 'streamer-monitor', tracing: shell.tracing };
  const dataSource = await connectDatabase({
    ...databaseAt(config.DATABASE_URL),
    poolSize: databaseConnections,
  });
  measurePool(shell.metrics, 'streamer_monitor', dataSource);
  await claimStoreFor(config.PLATFORM, dataSource);
  const client = new RequestClient({
    ...nats,
    name: 'streamer-monitor-client',
    metrics: { registry: shell.metrics, app: 'streamer-monitor' },
  });
  await client.connect();
  const connection = await connectNats({ ...nats, name: 'streamer-monitor-events', account: 'EVENTS' });
  const strategy = new NatsServerStrategy({
    ...nats,
    queue: 'streamer-monitor',
    contracts: servedContracts,
    metrics: shell.metrics,
  });
  const app: INestMicroservice = await NestFactory.createMicroservice(
    StreamerMonitorModule.register(shell, { dataSource, client, connection }),
    { strategy, logger: new NestLogger(logger), abortOnError: false },
  );
  app.useGlobalFilters(new ErrorResponder(logger, toUnavailable));
  const background = [StreamEventsConsumer, Poller, UsernameRefresh, StreamMaintenance].map((part) =>
    app.get(part),
  );
  for (const part of background) part.start();
  await app.listen();
  const reporter = new InstanceReporter(client, shell, { service: 'streamer-monitor', measures: {} });
  reporter.start();

  health.register('streamer monitor database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('streamer monitor nats', () => strategy.ping());
  return {
    // Stop taking requests, finish background work, then close the connections.
    close: () =>
      closeAll([
        () => reporter.stop(),
        () => app.close(),
        () => Promise.all([...background, app.get(RebuildService)].map((part) => part.stop())),
        () => closeNats(connection),
        () => client.close(),
        () => dataSource.destroy(),
      ]),
  };
}

function databaseAt(url: string) {
  const { name, entities, migrations } = schema;
  return { url, schema: name, applicationName: 'streamer-monitor', entities, migrations };
}

import { NestFactory } from '@nestjs/core';
import type { INestMicroservice } from '@nestjs/common';
import type { Contract } from '@stream-events/contracts';
import { connectDatabase, toUnavailable } from '@stream-events/database';
import { ErrorResponder, NatsServerStrategy } from '@stream-events/messaging';
import { closeAll, defineService, NestLogger, type Shell } from '@stream-events/service';
import { variables, type StreamerMonitorConfig } from './streamer-monitor.config.js';
import { StreamerMonitorModule } from './streamer-monitor.module.js';

/** The contracts that the streamer monitor answers. */
const servedContracts: readonly Contract<object, object>[] = [];

/** What the streamer monitor keeps in its own schema. */
export const schema = {
  name: 'streamer_monitor',
  entities: [],
  migrations: [],
};

/** The streamer monitor: who is live, and which streams there were. */
export const streamerMonitor = defineService({ name: 'streamer-monitor', variables, start });

async function start(shell: Shell<StreamerMonitorConfig>) {
  const { config, logger, health } = shell;
  const nats = { urls: config.NATS_URL, name: 'streamer-monitor' };
  const { entities, migrations } = schema;
  const dataSource = await connectDatabase({
    url: config.DATABASE_URL,
    schema: schema.name,
    applicationName: 'streamer-monitor',
    entities,
    migrations,
    poolSize: 10,
  });
  const strategy = new NatsServerStrategy({
    ...nats,
    queue: 'streamer-monitor',
    contracts: servedContracts,
  });
  const app: INestMicroservice = await NestFactory.createMicroservice(
    StreamerMonitorModule.register(shell, { dataSource }),
    { strategy, logger: new NestLogger(logger), abortOnError: false },
  );
  app.useGlobalFilters(new ErrorResponder(logger, toUnavailable));
  await app.listen();

  health.register('streamer monitor database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('streamer monitor nats', () => strategy.ping());
  return { close: () => closeAll([() => app.close(), () => dataSource.destroy()]) };
}

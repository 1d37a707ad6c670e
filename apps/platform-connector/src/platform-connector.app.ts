import { NestFactory } from '@nestjs/core';
import type { INestMicroservice } from '@nestjs/common';
import { getPlatformStatus, lookUpStreams, lookUpUsers } from '@stream-events/contracts';
import { connectDatabase } from '@stream-events/database';
import { ErrorResponder, NatsServerStrategy } from '@stream-events/messaging';
import { closeAll, defineService, NestLogger, type Shell } from '@stream-events/service';
import { ApiEndpoint } from './catalogue/api-endpoint.entity.js';
import { CatalogueSeed } from './catalogue/catalogue-seed.entity.js';
import { catalogueContracts } from './catalogue/catalogue.contracts.js';
import { Scope } from './catalogue/scope.entity.js';
import { seedCatalogue } from './catalogue/seed-catalogue.js';
import { CreateAppTokensAndRateBudgets1764200000000 } from './migrations/1764200000000-create-app-tokens-and-rate-budgets.js';
import { CreateCatalogue1764220000000 } from './migrations/1764220000000-create-catalogue.js';
import { variables, type PlatformConnectorConfig } from './platform-connector.config.js';
import { PlatformConnectorModule } from './platform-connector.module.js';
import { AppToken } from './platform/app-token.entity.js';
import { PlatformHttp } from './platform/platform-http.js';
import { RateBudgetRow } from './platform/rate-budget.entity.js';
import { toServiceError } from './platform/unavailable-error.js';

/** The contracts that the platform connector answers. */
const servedContracts = [...catalogueContracts, getPlatformStatus, lookUpStreams, lookUpUsers];

/** What the platform connector keeps in its own schema. */
export const schema = {
  name: 'platform_connector',
  entities: [ApiEndpoint, AppToken, CatalogueSeed, RateBudgetRow, Scope],
  migrations: [CreateAppTokensAndRateBudgets1764200000000, CreateCatalogue1764220000000],
};

/** The platform connector: the only service that talks to the platform. */
export const platformConnector = defineService({ name: 'platform-connector', variables, start });

async function start(shell: Shell<PlatformConnectorConfig>) {
  const { config, logger, health } = shell;
  const nats = { urls: config.NATS_URL, name: 'platform-connector' };
  const { entities, migrations } = schema;
  const dataSource = await connectDatabase({
    url: config.DATABASE_URL,
    schema: schema.name,
    applicationName: 'platform-connector',
    entities,
    migrations,
    poolSize: 10,
  });
  await seedCatalogue(dataSource);
  const strategy = new NatsServerStrategy({
    ...nats,
    queue: 'platform-connector',
    contracts: servedContracts,
  });
  const app: INestMicroservice = await NestFactory.createMicroservice(
    PlatformConnectorModule.register(shell, { dataSource }),
    { strategy, logger: new NestLogger(logger), abortOnError: false },
  );
  app.useGlobalFilters(new ErrorResponder(logger, toServiceError));
  await app.listen();

  health.register('platform connector database', async () => {
    await dataSource.query('SELECT 1');
  });
  health.register('platform connector nats', () => strategy.ping());
  return {
    close: () =>
      closeAll([() => app.close(), () => app.get(PlatformHttp).close(), () => dataSource.destroy()]),
  };
}

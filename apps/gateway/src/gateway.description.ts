import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { JsonObject } from '@stream-events/contracts';
import { createLogger, Health, loadConfig, Registry } from '@stream-events/service';
import { describeStreams } from './api-description/async-api.js';
import { describeApi } from './api-description/open-api.js';
import { variables } from './gateway.config.js';
import { createOfflineDataSource } from './gateway.database.js';
import { GatewayModule } from './gateway.module.js';
import { createHttpApp } from './http/http-app.js';

/** Generates the OpenAPI description. Needs no database, NATS server, or port. */
export async function printOpenApi(): Promise<OpenAPIObject> {
  return describeApi(await createOfflineApp());
}

/** Generates the AsyncAPI description. Needs no database, NATS server, or port. */
export async function printAsyncApi(): Promise<JsonObject> {
  return describeStreams(await printOpenApi());
}

function createOfflineApp(): Promise<NestFastifyApplication> {
  const config = loadConfig(variables, {
    DATABASE_URL: 'postgres://nowhere',
    NATS_URL: 'nats://nowhere',
    SECRET_KEY: 'describes-the-api-and-encrypts-nothing',
  });
  const shell = {
    config,
    logger: createLogger('gateway', 'silent'),
    health: new Health(),
    metrics: new Registry(),
  };
  return createHttpApp(GatewayModule.register(shell, createOfflineDataSource()), shell);
}

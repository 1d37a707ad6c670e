import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RequestClient } from '@stream-events/messaging';
import { NestLogger, type Shell } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { HttpMetrics } from './http-metrics.js';
import { createHttpServer } from './http-server.js';
import { RouteMethods } from './route-methods.js';
import { RequestTraces } from './trace-requests.js';
import { translateForTau } from './tau-compatibility.js';
import { warnOfUntrustedProxies } from './untrusted-proxies.js';

/** Creates the Nest app on the gateway's HTTP server, without listening yet. */
export async function createHttpApp(
  module: DynamicModule,
  { config, logger, tracing }: Pick<Shell<GatewayConfig>, 'config' | 'logger' | 'tracing'>,
): Promise<NestFastifyApplication> {
  const traces = tracing && new RequestTraces(tracing, config.TRUST_PROXY);
  const adapter = createHttpServer(config.TRUST_PROXY, {}, traces);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  // Add the hooks before Nest adds routes, which happens when the app starts to listen.
  app.get(RouteMethods).watch(adapter.getInstance());
  app.get(HttpMetrics).watch(adapter.getInstance());
  warnOfUntrustedProxies(adapter.getInstance(), logger);
  if (config.TAU_COMPATIBILITY === 'on') translateForTau(adapter.getInstance(), app.get(RequestClient));
  const origins = config.CORS_ORIGINS;
  app.enableCors({
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID'],
    exposedHeaders: [
      'Location',
      'RateLimit',
      'RateLimit-Policy',
      'Ratelimit-Limit',
      'Ratelimit-Remaining',
      'Ratelimit-Reset',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
    ],
    maxAge: 86_400,
    // Treat every OPTIONS request as a preflight. By default, @fastify/cors rejects an OPTIONS request without preflight headers with a
    // plain-text error.
    strictPreflight: false,
  });
  return app;
}

import { Module, type DynamicModule } from '@nestjs/common';
import { IngestModule } from '@stream-events/ingest';
import { RequestClient } from '@stream-events/messaging';
import { reportAlarms } from '@stream-events/contracts';
import { Alarms, ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { AccessModule } from './access/access.module.js';
import { ApiEndpointsModule } from './api-endpoints/api-endpoints.module.js';
import { AuditLogModule } from './audit-log/audit-log.module.js';
import { DeadLettersModule } from './dead-letters/dead-letters.module.js';
import { EventExportModule } from './event-export/event-export.module.js';
import { ErasuresModule } from './erasures/erasures.module.js';
import { EventsModule } from './events/events.module.js';
import type { GatewayConfig } from './gateway.config.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { LiveModule } from './live/live.module.js';
import { PagesModule } from './pages/pages.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { RehearsalsModule } from './rehearsals/rehearsals.module.js';
import { ReplaysModule } from './replays/replays.module.js';
import { ScopesModule } from './scopes/scopes.module.js';
import { SeedsModule } from './seeds/seeds.module.js';
import { StorageModule } from './storage/storage.module.js';
import { StreamersModule } from './streamers/streamers.module.js';
import { SystemModule } from './system/system.module.js';
import { TokensModule } from './tokens/tokens.module.js';
import { UsersModule } from './users/users.module.js';
import { WebhookModule } from './webhook/webhook.module.js';

/**
 * The gateway's features, in the order of their paths in the API description. The order does not affect routing: Fastify prefers a fixed
 * path segment to a parameter, so `/platform-events/stream` never reaches the handler of `/platform-events/:id`.
 */
const features = [
  HttpModule,
  HealthModule,
  AccessModule,
  StorageModule,
  UsersModule,
  TokensModule,
  WebhookModule,
  LiveModule,
  EventsModule,
  EventExportModule,
  ReplaysModule,
  RehearsalsModule,
  DeadLettersModule,
  StreamersModule,
  PlatformModule,
  ScopesModule,
  ApiEndpointsModule,
  ErasuresModule,
  AuditLogModule,
  SystemModule,
  SeedsModule,
  PagesModule,
];

@Module({})
export class GatewayModule {
  static register(shell: Shell<GatewayConfig>, dataSource: DataSource): DynamicModule {
    const { NATS_URL: urls, INGEST_FALLBACK } = shell.config;
    const { tracing } = shell;
    const client = new RequestClient({
      urls,
      name: 'gateway',
      metrics: { registry: shell.metrics, app: 'gateway' },
      tracing,
    });
    const ingest = IngestModule.register(
      { urls, name: 'gateway-ingest' },
      { app: 'gateway', hasFallback: INGEST_FALLBACK === 'on' },
    );
    const shared = ShellModule.register(shell, [
      { provide: DataSource, useValue: dataSource },
      { provide: RequestClient, useValue: client },
      {
        provide: Alarms,
        useValue: new Alarms((report) => client.request(reportAlarms, report), shell.logger),
      },
    ]);
    return { module: GatewayModule, imports: [shared, ingest, ...features] };
  }
}

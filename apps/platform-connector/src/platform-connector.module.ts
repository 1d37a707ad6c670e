import { Module, type DynamicModule } from '@nestjs/common';
import { ShellModule, type Shell } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ApiEndpointsController } from './catalogue/api-endpoints.controller.js';
import { ApiEndpointsService } from './catalogue/api-endpoints.service.js';
import { ScopesController } from './catalogue/scopes.controller.js';
import { ScopesService } from './catalogue/scopes.service.js';
import { LookUpController } from './look-up/look-up.controller.js';
import type { PlatformConnectorConfig } from './platform-connector.config.js';
import { AppTokensRepository } from './platform/app-tokens.repository.js';
import { AppTokens } from './platform/app-tokens.service.js';
import { NoPlatform } from './platform/no-platform.js';
import { PlatformClient } from './platform/platform-client.js';
import { PlatformHealth } from './platform/platform-health.service.js';
import { PlatformHttp } from './platform/platform-http.js';
import { PLATFORM_SETTINGS, toPlatformSettings } from './platform/platform-settings.js';
import { PLATFORM, type Platform } from './platform/platform.js';
import { RateBudgets } from './platform/rate-budgets.service.js';
import { TwitchPlatform } from './platform/twitch-platform.js';
import { PlatformStatus } from './status/platform-status.service.js';
import { StatusController } from './status/status.controller.js';
import { SubscriptionStatus } from './subscriptions/subscription-status.service.js';

/** What is connected before the module is made. */
export interface PlatformConnectorConnections {
  dataSource: DataSource;
}

@Module({})
export class PlatformConnectorModule {
  static register(
    shell: Shell<PlatformConnectorConfig>,
    { dataSource }: PlatformConnectorConnections,
  ): DynamicModule {
    const settings = toPlatformSettings(shell.config);
    return {
      module: PlatformConnectorModule,
      imports: [ShellModule.register(shell)],
      controllers: [ApiEndpointsController, LookUpController, ScopesController, StatusController],
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: PLATFORM_SETTINGS, useValue: settings },
        {
          provide: PLATFORM,
          inject: [TwitchPlatform],
          useFactory: (twitch: TwitchPlatform): Platform =>
            settings.platform === 'none' ? new NoPlatform() : twitch,
        },
        ApiEndpointsService,
        AppTokens,
        AppTokensRepository,
        PlatformClient,
        PlatformHealth,
        PlatformHttp,
        PlatformStatus,
        RateBudgets,
        ScopesService,
        SubscriptionStatus,
        TwitchPlatform,
      ],
    };
  }
}

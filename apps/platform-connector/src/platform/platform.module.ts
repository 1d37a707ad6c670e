import { Module } from '@nestjs/common';
import type { OutboundPlatform } from '@stream-events/platforms';
import { CONFIG } from '@stream-events/service';
import { AppTokensRepository } from './app-tokens.repository.js';
import { AppTokens } from './app-tokens.service.js';
import { PlatformClock } from './platform-clock.js';
import { PlatformClient } from './platform-client.js';
import { PlatformErrors } from './platform-errors.service.js';
import { PlatformHealth } from './platform-health.service.js';
import { PlatformHttp } from './platform-http.js';
import {
  PLATFORM,
  PLATFORM_SETTINGS,
  toPlatformSettings,
  type PlatformSettings,
} from './platform-settings.js';
import { RateBudgets } from './rate-budgets.service.js';

/** Calls the platform's API, with the application's token, the shared rate budget, and retries. */
@Module({
  providers: [
    { provide: PLATFORM_SETTINGS, inject: [CONFIG], useFactory: toPlatformSettings },
    {
      provide: PLATFORM,
      inject: [PLATFORM_SETTINGS, PlatformClient],
      useFactory: ({ definition, urls }: PlatformSettings, client: PlatformClient): OutboundPlatform =>
        definition.createOutbound(client, urls),
    },
    AppTokens,
    AppTokensRepository,
    PlatformClient,
    PlatformClock,
    PlatformErrors,
    PlatformHealth,
    PlatformHttp,
    RateBudgets,
  ],
  exports: [
    AppTokens,
    PLATFORM,
    PLATFORM_SETTINGS,
    PlatformClient,
    PlatformClock,
    PlatformErrors,
    PlatformHealth,
    PlatformHttp,
    RateBudgets,
  ],
})
export class PlatformModule {}

import { Module } from '@nestjs/common';
import { FaultsModule } from '../faults/faults.module.js';
import { GrantsModule } from '../grants/grants.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { WorldModule } from '../world/world.module.js';
import { AccessTokens } from './access-tokens.js';
import { Applications } from './applications.js';
import { AuthorizationCodes } from './authorization-codes.js';
import { ActivatePageController, AuthorizePageController } from './consent-pages.controller.js';
import { ConsentsService } from './consents.service.js';
import { DeviceCodes } from './device-codes.js';
import { OAuthController } from './oauth.controller.js';
import { RefreshTokens } from './refresh-tokens.js';
import { SimulatedConsentsController } from './simulated-consents.controller.js';
import { SimulatedTokensController } from './simulated-tokens.controller.js';
import { DeviceController, TokenController } from './token.controller.js';
import { TokenRequests } from './token-requests.service.js';

/** Exports the providers that PlatformApiGuard needs. */
@Module({
  imports: [FaultsModule, GrantsModule, LimitsModule, WorldModule],
  controllers: [
    ...[TokenController, DeviceController, OAuthController],
    ...[AuthorizePageController, ActivatePageController],
    ...[SimulatedConsentsController, SimulatedTokensController],
  ],
  providers: [
    ...[Applications, AccessTokens, RefreshTokens],
    ...[AuthorizationCodes, DeviceCodes, ConsentsService, TokenRequests],
  ],
  exports: [AccessTokens, LimitsModule],
})
export class OAuthModule {}

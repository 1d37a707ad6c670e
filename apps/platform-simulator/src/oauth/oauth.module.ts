import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { AccessTokens } from './access-tokens.js';
import { OAuthController } from './oauth.controller.js';
import { SimulatedTokensController } from './simulated-tokens.controller.js';

/** Access tokens, and what PlatformApiGuard needs to check them. */
@Module({
  imports: [LimitsModule],
  controllers: [OAuthController, SimulatedTokensController],
  providers: [AccessTokens],
  exports: [AccessTokens, LimitsModule],
})
export class OAuthModule {}

import { Module } from '@nestjs/common';
import { LimitsController } from './limits.controller.js';
import { PlatformLimits } from './platform-limits.js';
import { RateLimiter } from './rate-limiter.js';

/** The limits of the platform: rate, cost, page size, token lifetime, retries. */
@Module({
  controllers: [LimitsController],
  providers: [PlatformLimits, RateLimiter],
  exports: [PlatformLimits, RateLimiter],
})
export class LimitsModule {}

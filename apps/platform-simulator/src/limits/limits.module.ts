import { Module } from '@nestjs/common';
import { LimitsController } from './limits.controller.js';
import { PlatformLimits } from './platform-limits.js';
import { RateLimiter } from './rate-limiter.js';

@Module({
  controllers: [LimitsController],
  providers: [PlatformLimits, RateLimiter],
  exports: [PlatformLimits, RateLimiter],
})
export class LimitsModule {}

import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { HttpModule } from '../http/http.module.js';
import { AccessControl } from './access-control.service.js';
import { AccessGuard } from './access.guard.js';
import { DiskSpace } from './disk-space.service.js';
import { RateLimits } from './rate-limits.service.js';
import { UserTurns } from './user-turns.service.js';
import { TokenLookup } from './token-lookup.service.js';

/** Authenticates requests, and rejects those that the user has no right to send or that exceed a limit. */
@Module({
  imports: [HttpModule],
  providers: [
    AccessControl,
    DiskSpace,
    RateLimits,
    TokenLookup,
    UserTurns,
    { provide: APP_GUARD, useClass: AccessGuard },
  ],
  exports: [AccessControl, RateLimits, TokenLookup],
})
export class AccessModule {}

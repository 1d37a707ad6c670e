import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { AccessGuard } from './access.guard.js';
import { AccessTokens } from './access-tokens.service.js';
import { LoginController } from './login.controller.js';
import { LoginFailuresPruning } from './login-failures-pruning.service.js';
import { LoginFailures } from './login-failures.repository.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [AuditLogModule],
  controllers: [LoginController, UsersController],
  providers: [
    { provide: APP_GUARD, useClass: AccessGuard },
    AccessTokens,
    LoginFailures,
    LoginFailuresPruning,
    UsersService,
  ],
  exports: [AccessTokens],
})
export class UsersModule {}

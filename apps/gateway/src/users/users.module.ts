import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { LoginController } from './login.controller.js';
import { LoginThrottlePruning } from './login-throttle-pruning.service.js';
import { LoginThrottle } from './login-throttle.service.js';
import { SessionsController } from './sessions.controller.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [AuditLogModule, TokensModule],
  controllers: [LoginController, SessionsController, UsersController],
  providers: [LoginThrottle, LoginThrottlePruning, UsersService],
  exports: [UsersService],
})
export class UsersModule {}

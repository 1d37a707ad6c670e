import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { TokenUpkeep } from './token-upkeep.service.js';
import { TokensController } from './tokens.controller.js';
import { Tokens } from './tokens.service.js';

@Module({
  imports: [AccessModule, AuditLogModule],
  controllers: [TokensController],
  providers: [Tokens, TokenUpkeep],
  exports: [Tokens],
})
export class TokensModule {}

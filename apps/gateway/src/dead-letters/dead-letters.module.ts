import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { DeadLettersController } from './dead-letters.controller.js';

@Module({ imports: [AuditLogModule, PagingModule], controllers: [DeadLettersController] })
export class DeadLettersModule {}

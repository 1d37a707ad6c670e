import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { AuditLogPruning } from './audit-log-pruning.service.js';
import { AuditLogController } from './audit-log.controller.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { AuditLog } from './audit-log.service.js';

@Module({
  imports: [PagingModule],
  controllers: [AuditLogController],
  providers: [AuditLog, AuditLogPruning, AuditLogRepository],
  exports: [AuditLog],
})
export class AuditLogModule {}

import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { LiveModule } from '../live/live.module.js';
import { RehearsalRunner } from './rehearsal-runner.service.js';
import { RehearsalsController } from './rehearsals.controller.js';
import { RehearsalsRepository } from './rehearsals.repository.js';
import { RehearsalsService } from './rehearsals.service.js';

@Module({
  imports: [AuditLogModule, LiveModule],
  controllers: [RehearsalsController],
  providers: [RehearsalRunner, RehearsalsRepository, RehearsalsService],
})
export class RehearsalsModule {}

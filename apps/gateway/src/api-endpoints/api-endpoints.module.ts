import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { ApiEndpointsController } from './api-endpoints.controller.js';
import { ApiEndpointsService } from './api-endpoints.service.js';

@Module({
  imports: [AuditLogModule],
  controllers: [ApiEndpointsController],
  providers: [ApiEndpointsService],
})
export class ApiEndpointsModule {}

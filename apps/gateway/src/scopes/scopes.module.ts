import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { ScopesController } from './scopes.controller.js';
import { ScopesService } from './scopes.service.js';

@Module({ imports: [AuditLogModule], controllers: [ScopesController], providers: [ScopesService] })
export class ScopesModule {}
